import { withMember } from '../http/fields.ts';
import { type Answer, withFields } from '../kernel/answer.ts';
import type { Ask } from '../kernel/ask.ts';
import type { Route } from '../policy/route.ts';

/** Lets web pages of the listed origins read answers (Fetch, section 3.2); for all others, and by default, nothing is added. */
export type Cors = (ask: Ask, route: () => Route, answer: () => Answer | Promise<Answer>) => Answer | Promise<Answer>;

/** What a page's script may read besides what Fetch always shows it: the fields that Cardea makes, and those of HTTP that they belong to. */
const EXPOSED = [
  'A2A-Version, A2A-Extensions, Age, Allow, Cache-Status, Card-Status, Cardea-Interface, Date, ETag, Proxy-Status, Repr-Digest,',
  'Retry-After, Vary, WWW-Authenticate',
].join(' ');

/** One list for every path, so that a preflight, which shows no credentials, tells nobody which agents there are. */
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
/** How long a page may go by a preflight: a reload of the configuration is felt within this time, in seconds. */
const PREFLIGHT_LIFE = '600';
/** RFC 9110 §5.1: what a page says that it would send is handed back only where it is a list of field names. */
const NAMES = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+(?:[ \t]*,[ \t]*[!#$%&'*+.^_`|~0-9A-Za-z-]+)*$/;

export function createCors(origins: () => ReadonlySet<string>): Cors {
  return (ask, route, answer) => {
    const listed = origins();
    if (listed.size === 0 || isOfTheOrigin(route())) return answer();
    const origin = ask.field('origin');
    const page = origin !== undefined && listed.has(origin) ? origin : undefined;
    if (page !== undefined && isPreflight(ask)) return preflight(ask, page);
    const got = answer();
    return got instanceof Promise ? got.then((late) => shown(late, page)) : shown(got, page);
  };
}

/** `content: any` hands on what its origin says, and who may read that is for it to say. */
const isOfTheOrigin = (route: Route): boolean => route.to === 'origin' && route.rule.content === 'any';

const isPreflight = (ask: Ask): boolean =>
  ask.method === 'OPTIONS' && ask.field('access-control-request-method') !== undefined;

function shown(answer: Answer, page: string | undefined): Answer {
  // "If … an origin … is dynamically chosen, Vary … Origin": also where there was none, or a stored answer would be shown to nobody.
  const fields = withMember(answer.fields, 'Vary', 'Origin');
  if (page === undefined) return withFields(answer, fields);
  const allowed = ['Access-Control-Allow-Origin', page, 'Access-Control-Expose-Headers', EXPOSED];
  return withFields(answer, [...fields, ...allowed]);
}

function preflight(ask: Ask, page: string): Answer {
  const wanted = ask.field('access-control-request-headers')?.trim();
  const fields = [
    'Access-Control-Allow-Origin',
    page,
    'Access-Control-Allow-Methods',
    METHODS,
    'Access-Control-Max-Age',
    PREFLIGHT_LIFE,
    'Vary',
    'Origin, Access-Control-Request-Method, Access-Control-Request-Headers, Access-Control-Request-Private-Network',
  ];
  if (wanted !== undefined && NAMES.test(wanted)) fields.push('Access-Control-Allow-Headers', wanted);
  // A page on a public address that calls a private one asks for this besides, in browsers that have Private Network Access.
  if (ask.field('access-control-request-private-network') === 'true')
    fields.push('Access-Control-Allow-Private-Network', 'true');
  return { status: 204, fields, body: null, trace: { kind: 'other', result: 'hit', agent: null } };
}
