import type { ProxyError } from '../kernel/faults.ts';
import { structuredString } from './structured.ts';

/** What went wrong between us and an origin. */
export interface ProxyFailure {
  readonly error: ProxyError;
  /** The status that the origin answered with. */
  readonly receivedStatus?: number | undefined;
  /** The origin, as far as the caller may know it. */
  readonly nextHop?: string | undefined;
  readonly details?: string | undefined;
}

/** Serialises `Proxy-Status` (RFC 9209 §2). */
export function proxyStatus({ error, receivedStatus, nextHop, details }: ProxyFailure): string {
  const parameters = ['cardea', `error=${error}`];
  if (receivedStatus !== undefined) parameters.push(`received-status=${receivedStatus}`);
  if (nextHop !== undefined) parameters.push(`next-hop=${structuredString(nextHop)}`);
  if (details !== undefined) parameters.push(`details=${structuredString(details)}`);
  return parameters.join('; ');
}
