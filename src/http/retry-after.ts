import { type EpochMs, type Ms, between, ms } from '../kernel/units.ts';
import { parseHttpDate } from './http-date.ts';

/** Longer than any wait that makes sense; keeps the arithmetic exact. */
const MOST_SECONDS = 2 ** 31;

/** Reads `Retry-After` (RFC 9110 §10.2.3): seconds or an HTTP-date. Null where there is none or it is malformed; never negative. */
export function parseRetryAfter(text: string | undefined, receivedAt: EpochMs): Ms | null {
  if (text === undefined) return null;
  const trimmed = text.trim();
  if (/^\d+$/.test(trimmed)) return ms(Math.min(Number(trimmed), MOST_SECONDS) * 1000);
  const until = parseHttpDate(trimmed, receivedAt);
  return until === undefined ? null : ms(Math.max(0, between(receivedAt, until)));
}
