import type { CallerVersion } from '../kernel/ask.ts';
import { type Outcome, type Refusal, accepted, refuse, refused } from '../kernel/refusal.ts';
import type { OperationName } from './operations.ts';

/** An operation of the HTTP+JSON binding, and the tenant that stands before it (A2A 1.0 §11.3; `''` for none). */
export interface HttpJsonCall {
  readonly operation: OperationName;
  readonly tenant: string;
}

/** The operations of one path, by method. */
type Methods = ReadonlyMap<string, OperationName>;
interface Place {
  /** `*` stands for one segment that the caller chooses, `*:verb` for one that ends so. */
  readonly segments: readonly string[];
  readonly methods: Methods;
}

const place = (path: string, methods: Readonly<Record<string, OperationName>>): Place => ({
  segments: path.split('/'),
  methods: new Map(Object.entries(methods)),
});

const COMMON: readonly Place[] = [
  place('message:send', { POST: 'SendMessage' }),
  place('message:stream', { POST: 'SendStreamingMessage' }),
  place('tasks', { GET: 'ListTasks' }),
  place('tasks/*:cancel', { POST: 'CancelTask' }),
  // The specification has GET, the JavaScript SDK POST.
  place('tasks/*:subscribe', { GET: 'SubscribeToTask', POST: 'SubscribeToTask' }),
  place('tasks/*', { GET: 'GetTask' }),
  place('tasks/*/pushNotificationConfigs', {
    GET: 'ListTaskPushNotificationConfigs',
    POST: 'CreateTaskPushNotificationConfig',
  }),
  place('tasks/*/pushNotificationConfigs/*', {
    GET: 'GetTaskPushNotificationConfig',
    DELETE: 'DeleteTaskPushNotificationConfig',
  }),
];
const PLACES_1_0 = [...COMMON, place('extendedAgentCard', { GET: 'GetExtendedAgentCard' })];
const PLACES_0_3 = [...COMMON, place('card', { GET: 'GetExtendedAgentCard' })];
/** 0.3 has all its paths below this, and no tenants. */
const LEGACY = 'v1';

/**
 * Reads which operation a request below an agent's base URL is. The list is closed and the path is taken literally: what an origin
 * could read as another path than Cardea does, or as two operations, is refused.
 * @param path the raw path below the base, with its slash, without query.
 */
export function readHttpJson(method: string, path: string, version: CallerVersion): Outcome<HttpJsonCall> {
  const segments = path.split('/').slice(1);
  if (!segments.every(isPlain)) return refused(refuse('bad-request', ODD));
  const found = version === '1.0' ? modern(segments) : legacy(segments);
  if (found === undefined) return refused(unknownPath(segments, version));
  if ('why' in found) return refused(refuse('bad-request', found.why));
  const operation = found.methods.get(method);
  return operation === undefined
    ? refused(refuse('method-not-allowed', `${method} is not for this path.`, { allow: [...found.methods.keys()] }))
    : accepted({ operation, tenant: found.tenant });
}

const ODD =
  'The path has an empty segment, a dot segment, a backslash or an encoded slash, which the next server may read otherwise.';

/** One segment that means the same to whoever resolves dots, decodes early or decodes late. */
function isPlain(segment: string): boolean {
  if (segment === '' || /\\|%2f|%5c|%00/i.test(segment)) return false;
  const decoded = decode(segment);
  return decoded !== undefined && decoded !== '.' && decoded !== '..';
}

function decode(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

type Found = { readonly methods: Methods; readonly tenant: string } | { readonly why: string };

function modern(segments: readonly string[]): Found | undefined {
  const [first = '', ...rest] = segments;
  const alone = findPlace(segments, PLACES_1_0);
  const behindTenant = findPlace(rest, PLACES_1_0);
  if (alone !== undefined && behindTenant !== undefined)
    return { why: 'The path can be read with and without a tenant; choose another name for the tenant or the task.' };
  if (alone !== undefined) return { methods: alone.methods, tenant: '' };
  return behindTenant && { methods: behindTenant.methods, tenant: decode(first) ?? '' };
}

function legacy([first, ...rest]: readonly string[]): Found | undefined {
  const found = first === LEGACY ? findPlace(rest, PLACES_0_3) : undefined;
  return found && { methods: found.methods, tenant: '' };
}

const findPlace = (segments: readonly string[], places: readonly Place[]): Place | undefined =>
  places.find(
    (one) =>
      one.segments.length === segments.length && one.segments.every((wanted, at) => fits(wanted, segments[at] ?? '')),
  );

const fits = (wanted: string, segment: string): boolean =>
  wanted.startsWith('*') ? segment.length >= wanted.length && segment.endsWith(wanted.slice(1)) : segment === wanted;

function unknownPath(segments: readonly string[], version: CallerVersion): Refusal {
  const other = version === '1.0' ? legacy(segments) : modern(segments);
  if (other === undefined || version === '1.0') {
    return refuse('not-found', 'No A2A operation has this path; JSON-RPC is spoken at the base URL itself, by POST.');
  }
  const detail = "The path is A2A 1.0's; send A2A-Version: 1.0 with it, or put /v1 before it for 0.3.";
  return refuse('version-not-supported', detail);
}
