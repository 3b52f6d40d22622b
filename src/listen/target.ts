import { type Outcome, type Refusal, accepted, refuse, refused } from '../kernel/refusal.ts';
import { noTunnel } from './raw-refusal.ts';

/** The request-target in origin-form, and the authority where the target names one itself. */
export interface Target {
  readonly path: string;
  readonly authority: string | undefined;
}

/** Targets are short here; a longer one is an attack on somebody's memory. */
const LONGEST = 8 * 1024;
/** Every byte that a target may have, whatever its form: visible ASCII. The fragment never travels (RFC 9112 §3.2). */
const TARGET = /^[\x21\x22\x24-\x7e]+$/;
const ABSOLUTE = /^http:\/\/([^/?]*)(.*)$/i;

/** Reads a request-target (RFC 9112 §3.2). It is never decoded, resolved or normalised: two spellings are two targets. */
export function readTarget(method: string, target: string): Outcome<Target> {
  const wrong = wrongMethod(method, target) ?? wrongTarget(target);
  if (wrong !== undefined) return refused(wrong);
  if (target.startsWith('/')) return accepted({ path: target, authority: undefined });
  // "a server MUST accept the absolute-form in requests" and ignore Host then — RFC 9112 §3.2.2.
  const absolute = ABSOLUTE.exec(target);
  if (absolute === null) return refused(refuse('bad-request', 'The request-target must be a path or an http:// URL.'));
  const [, authority = '', rest = ''] = absolute;
  return accepted({ path: rest.startsWith('/') ? rest : `/${rest}`, authority });
}

function wrongMethod(method: string, target: string): Refusal | undefined {
  if (method === 'CONNECT') return noTunnel();
  // TRACE would show a caller's fields to whoever can make it ask; "*" is about the server, which has nothing to say.
  if (method === 'TRACE' || (method === 'OPTIONS' && target === '*')) {
    return refuse('method-not-allowed', `${method} is not served here.`, { allow: ['GET', 'HEAD', 'POST'] });
  }
  return undefined;
}

function wrongTarget(target: string): Refusal | undefined {
  if (target.length > LONGEST) {
    return refuse('request-too-large', `The target is longer than ${LONGEST} bytes.`, { status: 414 });
  }
  return TARGET.test(target)
    ? undefined
    : refuse('bad-request', 'The request-target has a character that a target cannot have.');
}
