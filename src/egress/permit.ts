import type { EgressRule } from '../kernel/egress-rule.ts';
import { type Outcome, type Refusal, accepted, refuse, refused } from '../kernel/refusal.ts';
import { vetAddress } from './addresses.ts';
import { isLocalName } from '../kernel/local-names.ts';
import { findLookalike } from './lookalike.ts';
import { type Target, matchOrigin, parseTarget } from '../kernel/origins.ts';

/** Decides whether a URL may be requested under a rule: its form, its origin, cleartext, and the address where it is one. Pure. */
export function permitTarget(url: string, rule: EgressRule): Outcome<Target> {
  const parsed = parseTarget(url);
  if (!parsed.ok) return refused(malformed(url, parsed.why, rule));
  const target = parsed.value;
  if (matchOrigin(target, rule.allowed) === undefined) return refused(outsideOf(target, rule));
  if (target.scheme === 'http' && !rule.cleartext) {
    const detail = `${target.origin} is cleartext: use https://, or set ${rule.name}.unsafeCleartext: true.`;
    return refused(refuse('origin-not-allowed', detail));
  }
  return target.literal ? permitLiteral(target, rule) : accepted(target);
}

/** undici asks no resolver about a literal, so a check that lives in name resolution is walked around: here it is judged first. */
function permitLiteral(target: Target, rule: EgressRule): Outcome<Target> {
  const refusal = forbidAddress(target.host, target.host, rule);
  return refusal === null ? accepted(target) : refused(refusal);
}

/** Judges an address that a host stands for; null where it may be dialled. */
export function forbidAddress(host: string, address: string, rule: EgressRule): Refusal | null {
  const verdict = vetAddress(address, rule.unsafeAddresses);
  if (verdict.allowed) return null;
  const what = host === address ? address : `${host} resolves to ${verdict.address}, which`;
  const mend = verdict.entry === null ? '' : ` If that is meant, add ${verdict.entry} to ${rule.name}.unsafeAddresses.`;
  return refuse('address-forbidden', `${what} is in ${verdict.range} (${verdict.name}, ${verdict.rfc}).${mend}`);
}

/** A URL in characters outside ASCII is refused as such; where it reads like an allowed one, the refusal says so. */
function malformed(url: string, why: string, rule: EgressRule): Refusal {
  const host = URL.canParse(url) ? new URL(url).hostname : '';
  const disguised = /[^\x20-\x7e]/.test(url) && rule.allowed.some((pattern) => pattern.host === host) ? host : null;
  const like =
    disguised ??
    findLookalike(
      host,
      rule.allowed.map((pattern) => pattern.host),
    );
  if (like === null) return refuse('origin-not-allowed', `The URL is refused: ${why}.`);
  return refuse(
    'lookalike-origin',
    `The URL is refused: ${why}; its host resembles ${like}, which ${rule.name} allows.`,
  );
}

function outsideOf(target: Target, rule: EgressRule): Refusal {
  const like = target.literal
    ? null
    : findLookalike(
        target.host,
        rule.allowed.map((pattern) => pattern.host),
      );
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
  return refuse(
    'origin-not-allowed',
    `${target.origin} is not allowed by ${rule.name}.${here} To allow it, add { match: "${target.origin}" } to origins.`,
  );
}
