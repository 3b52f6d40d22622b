import type { EgressRule } from '../kernel/egress-rule.ts';
import type { Url } from '../kernel/ids.ts';
import { type Refusal, refuse } from '../kernel/refusal.ts';
import { type Target, matchOrigin, parseTarget } from '../kernel/origins.ts';
import { notOn, permitTarget } from './permit.ts';

/** What is known when an origin has answered one request of a chain. */
export interface HopState {
  readonly status: number;
  /** Every Location line as received. */
  readonly locations: readonly string[];
  readonly from: Target;
  /** The URLs asked so far, `from` included. */
  readonly asked: readonly Url[];
  readonly method: string;
  /** Redirects that may be followed in one chain. */
  readonly limit: number;
  readonly rule: EgressRule;
}

/** What follows from an answer. */
export type Hop =
  | { readonly kind: 'deliver' }
  | { readonly kind: 'follow'; readonly target: Target; readonly sameOrigin: boolean }
  | { readonly kind: 'refuse'; readonly refusal: Refusal };

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/** Decides whether an answer is the end of the chain. Each hop is a decision of its own under the same rule. Pure. */
export function decideHop(state: HopState): Hop {
  // 300 offers a choice, 304 validates, 305 is dead (RFC 9110 §15.4.6): none is followed.
  if (!REDIRECTS.includes(state.status)) return { kind: 'deliver' };
  if (state.method !== 'GET' && state.method !== 'HEAD') return no(state, `a ${state.method} is not redirected`);
  const [location, ...others] = new Set(state.locations);
  if (location === undefined) return no(state, 'it names no Location');
  if (others.length > 0) return no(state, 'it names several Locations');
  if (state.limit === 0) return no(state, `redirects are not followed here; it leads to ${printable(location)}`);
  if (state.asked.length > state.limit) return no(state, `the chain is longer than limits.redirects (${state.limit})`);
  return follow(state, location);
}

function follow(state: HopState, location: string): Hop {
  // The URL parser would drop tabs and line breaks and read "\" as "/": "/\evil.example" is an origin of its own to it.
  if (!/^[\x21-\x7e]*$/.test(location) || location.includes('\\'))
    return no(state, 'its Location holds characters that no URL has');
  const text = absolute(location, state.from);
  const parsed = text === null ? null : parseTarget(text);
  if (parsed === null) return no(state, 'its Location cannot be parsed');
  if (!parsed.ok) return no(state, parsed.why);
  const target = parsed.value;
  if (state.from.scheme === 'https' && target.scheme === 'http')
    return no(state, `it leads from https to ${target.origin}, which no setting allows`);
  if (state.asked.includes(target.url)) return no(state, `it loops back to ${target.url}`);
  if (matchOrigin(target, state.rule.allowed) === undefined)
    return { kind: 'refuse', refusal: elsewhere(state, target) };
  const permitted = permitTarget(target.url, state.rule);
  if (!permitted.ok) return { kind: 'refuse', refusal: leadingTo(state, target, permitted.refusal) };
  return { kind: 'follow', target, sameOrigin: target.origin === state.from.origin };
}

/** Resolves a relative reference. An absolute one goes to the strict reading as it is, so that no spelling is mended on the way. */
function absolute(location: string, from: Target): string | null {
  if (/^[a-z][a-z0-9+.-]*:/i.test(location)) return location;
  if (location.startsWith('//')) return `${from.scheme}:${location}`;
  return URL.canParse(location, from.url) ? new URL(location, from.url).href : null;
}

const printable = (text: string): string => text.replaceAll(/[^\x21-\x7e]/g, '?').slice(0, 200);

const no = (state: HopState, why: string): Hop => ({
  kind: 'refuse',
  refusal: refuse('redirect-refused', `${state.from.origin} answered ${state.status}: ${why}.`, {
    receivedStatus: state.status,
  }),
});

/** A redirect allows nothing: whoever means the new place writes it down. */
function elsewhere(state: HopState, target: Target): Refusal {
  const { code, detail } = notOn(target, state.rule);
  const mend = ` If that is where it lives now, write "${target.url}" in place of "${state.asked[0] ?? state.from.url}".`;
  return refuse(
    'redirect-refused',
    `${state.from.origin} answered ${state.status} and leads elsewhere: ${detail}${code === 'lookalike-origin' ? '' : mend}`,
    { receivedStatus: state.status },
  );
}

/** A forbidden address keeps its own code, since it is the stronger reason; everything else is a redirect that is not followed. */
function leadingTo(state: HopState, target: Target, refusal: Refusal): Refusal {
  if (refusal.code === 'address-forbidden') return { ...refusal, receivedStatus: state.status };
  const detail = `${state.from.origin} answered ${state.status} and leads to ${target.origin}. ${refusal.detail}`;
  return refuse('redirect-refused', detail, { receivedStatus: state.status });
}
