import type { CallerVersion } from '../kernel/ask.ts';
import { type Outcome, accepted, refuse, refused } from '../kernel/refusal.ts';

const KNOWN: ReadonlyMap<string, CallerVersion> = new Map([
  ['0.3', '0.3'],
  ['1.0', '1.0'],
]);
const QUERY_NAME = /[?&]A2A-Version=([^&]*)/i;
/** Longer texts are no version; they are not repeated to anyone. */
const LONGEST = 32;

/**
 * Reads the caller's A2A version: the `A2A-Version` field, else the query member of that name; absent means 0.3 and stays absent
 * (A2A 1.0 §3.6). Only Major.Minor is a version here.
 * @param target the raw request-target.
 */
export function callerVersion(field: string | undefined, target: string): Outcome<CallerVersion> {
  const written = field?.trim() || queryVersion(target);
  if (written === undefined || written === '') return accepted('absent');
  const version = KNOWN.get(written);
  if (version !== undefined) return accepted(version);
  const shown = written.length <= LONGEST ? ` ${JSON.stringify(written)}` : '';
  return refused(
    refuse(
      'version-not-supported',
      `A2A-Version${shown} is not known here; send one of ${[...KNOWN.keys()].join(', ')}.`,
    ),
  );
}

const queryVersion = (target: string): string | undefined =>
  target.includes('?') ? QUERY_NAME.exec(target)?.[1] : undefined;
