import type { EgressRule } from '../kernel/egress-rule.ts';
import { type Outcome, type Refusal, accepted, refuse, refused } from '../kernel/refusal.ts';
import { vetAddress } from './addresses.ts';
import { isLocalName } from '../kernel/local-names.ts';
import { findLookalike } from '../kernel/lookalike.ts';
import { type Target, matchOrigin, parseTarget } from '../kernel/origins.ts';

/** Decides whether a URL may be requested under a rule: its form, its origin, cleartext, and the address where it is one. Pure. */
export function permitTarget(url: string, rule: EgressRule): Outcome<Target> {
  const parsed = parseTarget(url);
  if (!parsed.ok) return refused(malformed(url, parsed.why, rule));
  const target = parsed.value;
  if (matchOrigin(target, rule.allowed) === undefined) return refused(outsideOf(target, rule));
  if (target.scheme === 'http' && !rule.cleartext) {
    const mend = isWritten(rule)
      ? `set ${rule.name}.unsafeCleartext: true`
      : `add { match: "${target.origin}", content: none, unsafeCleartext: true } to origins`;
    return refused(refuse('origin-not-allowed', `${target.origin} is cleartext: use https://, or ${mend}.`));
  }
  return target.literal ? permitLiteral(target, rule) : accepted(target);
}

/** undici asks no resolver about a literal, so a check that lives in name resolution is walked around: here it is judged first. */
function permitLiteral(target: Target, rule: EgressRule): Outcome<Target> {
  const refusal = forbidAddress(target, target.host, rule);
  return refusal === null ? accepted(target) : refused(refusal);
}

/** True where the rule stands in the configuration under its name; a URL that no rule covers has a rule that stands nowhere. */
const isWritten = ({ name }: EgressRule): boolean => /^(agents\.[a-z0-9-]+|origins\[\d+\])$/.test(name);

/** Judges an address that a target stands for; null where it may be dialled. */
export function forbidAddress(
  { host, origin }: Pick<Target, 'host' | 'origin'>,
  address: string,
  rule: EgressRule,
): Refusal | null {
  const verdict = vetAddress(address, rule.unsafeAddresses);
  if (verdict.allowed) return null;
  const what = host === address ? address : `${host} resolves to ${verdict.address}, which`;
  const line = isWritten(rule)
    ? `add ${verdict.entry} to ${rule.name}.unsafeAddresses`
    : `add { match: "${origin}", content: none, unsafeAddresses: ["${verdict.entry}"] } to origins`;
  const mend = verdict.entry === null ? '' : ` If that is meant, ${line}.`;
  return refuse('address-forbidden', `${what} is in ${verdict.range} (${verdict.name}, ${verdict.rfc}).${mend}`);
}

const hostsOf = ({ allowed }: EgressRule): readonly string[] => allowed.map(({ host }) => host);

/** A URL in characters outside ASCII is refused as such; where it reads like an allowed one, the refusal says so. */
function malformed(url: string, why: string, rule: EgressRule): Refusal {
  const host = URL.canParse(url) ? new URL(url).hostname : '';
  const disguised = /[^\x20-\x7e]/.test(url) && hostsOf(rule).includes(host) ? host : null;
  const like = disguised ?? findLookalike(host, hostsOf(rule));
  if (like === null) return refuse('origin-not-allowed', `The URL is refused: ${why}.`);
  return refuse(
    'lookalike-origin',
    `The URL is refused: ${why}; its host resembles ${like}, which ${rule.name} allows.`,
  );
}

/** Says that an origin is on no line of a rule, and what it could be taken for. */
export function notOn(target: Target, rule: EgressRule): Refusal {
  const like = target.literal ? null : findLookalike(target.host, hostsOf(rule));
  if (like !== null) {
    return refuse(
      'lookalike-origin',
      `${target.origin} is not allowed by ${rule.name}; it resembles ${like}, which is.`,
    );
  }
  const here =
    !target.literal && isLocalName(target.host)
      ? ' The name means "here", so only a rule that names it reaches it.'
      : '';
  return refuse('origin-not-allowed', `${target.origin} is not allowed by ${rule.name}.${here}`);
}

function outsideOf(target: Target, rule: EgressRule): Refusal {
  const refusal = notOn(target, rule);
  if (refusal.code === 'lookalike-origin') return refusal;
  const mend = `To allow it as an agent's card, write agents: { NAME: { card: "${target.url}" } }.`;
  return { ...refusal, detail: `${refusal.detail} ${mend}` };
}
