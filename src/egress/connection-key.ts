import type { EgressRule } from '../kernel/egress-rule.ts';
import type { Fields } from '../kernel/fields.ts';
import type { Target } from '../kernel/origins.ts';
import { valuesOf } from './message-fields.ts';
import type { TlsIdentity } from './tls-files.ts';

/**
 * Who meets on a connection of HTTP/1.1. `origin`: whoever fetches from the origin in the same way. `rule`: those under one rule alone,
 * which is for what callers write themselves: an origin that takes the body of one request for the next one answers that wrongly,
 * and it shall be no other agent's, and nobody's card. HTTP/2 says for each frame whose it is, so there everybody meets.
 */
export type Sharing = 'origin' | 'rule';

/** An exchange that wants a connection. */
export interface Asking {
  readonly target: Target;
  readonly rule: EgressRule;
  readonly sharing: Sharing;
}

/** Where the connections are that an exchange may use, by what they speak. */
export type ConnectionKey = Readonly<Record<'http1' | 'http2', string>>;

/** Writes out everything that decides how a connection is made and what it may lead to: exchanges of one key may share one. */
export type KeyConnection = (asking: Asking, identity: TlsIdentity) => ConnectionKey;

export function createConnectionKeys(): KeyConnection {
  // Written out once for each rule: a request has only to put its origin before it.
  const ways = new WeakMap<EgressRule, Readonly<Record<Sharing, string>>>();
  const waysOf = (rule: EgressRule): Readonly<Record<Sharing, string>> => {
    const known = ways.get(rule);
    if (known !== undefined) return known;
    const settings = [rule.proxy, rule.cleartext, rule.unsafeAddresses, rule.tls];
    const made = { origin: JSON.stringify(settings), rule: JSON.stringify([...settings, rule.name]) };
    ways.set(rule, made);
    return made;
  };
  return ({ target, rule, sharing }, { fingerprint }) => {
    const way = waysOf(rule);
    const http2 = `${target.origin} ${way.origin} ${fingerprint}`;
    return { http2, http1: sharing === 'origin' ? http2 : `${target.origin} ${way.rule} ${fingerprint}` };
  };
}

/** Credentials that vouch for a connection: whoever comes next on it is taken for the same caller. */
const VOUCHES_FOR_CONNECTION = /^\s*(?:ntlm|negotiate)(?:\s|$)/i;

/** Says whether an exchange must be the only one of its connection, whoever shares what. */
export const isAlone = (fields: Fields): boolean =>
  valuesOf(fields, 'authorization').some((credential) => VOUCHES_FOR_CONNECTION.test(credential));
