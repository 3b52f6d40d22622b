import pino from 'pino';
import type { Event } from '../kernel/event.ts';
import { type LogLevel, logLine } from './log-line.ts';

/** What is written. */
export interface LogWanted {
  readonly level: LogLevel;
  /** True where plain hits get a line too. */
  readonly hits: boolean;
}

export interface LogOptions extends LogWanted {
  /** Where lines go; the process's standard output unless a test looks. */
  readonly destination: pino.DestinationStream;
}

export interface Log {
  record(event: Event): void;
  /** Writes by other settings from now on. */
  follow(wanted: LogWanted): void;
}

/** Writes one canonical JSON line per thing worth one. A plain hit is silent, and costs no more than to see that it is one. */
export function createLog({ level, hits: first, destination }: LogOptions): Log {
  let hits = first;
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );
  return {
    record(event) {
      if (event.kind === 'forward' || event.kind === 'lookup' || (!hits && isPlainHit(event))) return;
      const line = logLine(event);
      if (logger.isLevelEnabled(line.level)) logger[line.level](line.members, line.msg);
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
