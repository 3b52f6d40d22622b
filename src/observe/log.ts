import pino from 'pino';
import type { Event } from '../kernel/event.ts';
import type { EpochMs } from '../kernel/units.ts';
import type { TurnedLines } from './by-turn.ts';
import { guarded } from './guarded.ts';
import { type LogLevel, type LoggedEvent, logLine } from './log-line.ts';

/** What is written. */
export interface LogWanted {
  readonly level: LogLevel;
  /** True where plain hits get a line too. */
  readonly hits: boolean;
}

/** Where lines go: with `soon` they are made when nobody waits for an answer, else at once. */
export type LineDestination = pino.DestinationStream & Partial<Pick<TurnedLines, 'soon'>>;

export interface LogOptions extends LogWanted {
  readonly destination: LineDestination;
  readonly now: () => EpochMs;
}

export interface Log {
  record(event: Event): void;
  /** Writes by other settings from now on. */
  follow(wanted: LogWanted): void;
}

/** Writes one canonical JSON line per thing worth one. A plain hit is silent, and costs no more than to see that it is one. */
export function createLog({ level, hits: first, destination, now }: LogOptions): Log {
  let hits = first;
  // Of the event whose line is being made, which may be long over.
  let time = now();
  const logger = pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date(time).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );
  const write = guarded('log', (event: LoggedEvent, at: EpochMs) => {
    const line = logLine(event);
    if (!logger.isLevelEnabled(line.level)) return;
    time = at;
    logger[line.level](line.members, line.msg);
  });
  return {
    record(event) {
      if (event.kind === 'forward' || event.kind === 'lookup' || (!hits && isPlainHit(event))) return;
      const at = now();
      if (destination.soon === undefined) write(event, at);
      else destination.soon(() => write(event, at));
    },
    follow(wanted) {
      hits = wanted.hits;
      logger.level = wanted.level;
    },
  };
}

/** What the daemon is for, thousands of times a second: metrics count it. */
const isPlainHit = (event: Event): boolean =>
  event.kind === 'request' && (event.trace.result === 'hit' || event.trace.result === 'not_modified');
