import type { Event } from '../kernel/event.ts';
import type { ListenerName } from '../kernel/ids.ts';

/** Frames of a stack that a log line needs to find the place. */
const FRAMES = 8;

/** A request met a bug. */
export const brokenRequest = (listener: ListenerName, error: unknown): Event => ({
  kind: 'notice',
  level: 'error',
  msg: 'a request broke',
  about: { listener, ...placeOf(error) },
});

/** A port cannot accept connections: too many files are open, or the network is gone. */
export const troubledPort = (listener: ListenerName, error: Error): Event => ({
  kind: 'notice',
  level: 'error',
  msg: 'a listener cannot accept connections',
  about: { listener, ...placeOf(error) },
});

/** Says what kind of error and where. Its message stays out: messages quote what they are about, and that may be a token. */
function placeOf(error: unknown): {
  readonly error: string;
  readonly errorCode?: string;
  readonly at: readonly string[];
} {
  if (!(error instanceof Error)) return { error: typeof error, at: [] };
  const at = (error.stack ?? '').split('\n').filter((line) => /^ {4}at /.test(line));
  const code = 'code' in error && typeof error.code === 'string' ? { errorCode: error.code } : {};
  return { error: error.name, ...code, at: at.slice(0, FRAMES).map((line) => line.trim()) };
}
