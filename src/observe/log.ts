import pino from 'pino';
import type { Event } from '../kernel/event.ts';
import { fault } from '../kernel/faults.ts';
import type { ExchangeReceipt } from '../kernel/receipt.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export interface LogOptions {
  readonly level: LogLevel;
  /** True where plain hits get a line too. */
  readonly hits: boolean;
  /** Where lines go; the process's standard output unless a test looks. */
  readonly destination: pino.DestinationStream;
}

export interface Log {
  record(event: Event): void;
}

/** One canonical JSON line per thing worth one. Only members named here are ever written: no header, no body, no credential. */
export function createLog({ level, hits, destination }: LogOptions): Log {
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
      switch (event.kind) {
        case 'request':
          if (hits || !isPlainHit(event)) logger[levelOf(event)](requestLine(event), 'request');
          return;
        case 'receipt':
          logger[exchangeLevel(event.receipt)](exchangeLine(event.receipt), 'exchange');
          return;
        case 'evicted':
          logger.debug({ reason: event.reason, count: event.count, bytes: event.bytes }, 'evicted');
          return;
        case 'notice':
          logger[event.level](event.about ?? {}, event.msg);
          return;
      }
    },
  };
}

type RequestEvent = Extract<Event, { kind: 'request' }>;

const isPlainHit = ({ trace }: RequestEvent): boolean => trace.result === 'hit' || trace.result === 'not_modified';

const levelOf = ({ trace }: RequestEvent): LogLevel => (trace.code === undefined ? 'info' : fault(trace.code).level);

function requestLine({ listener, method, status, trace, took }: RequestEvent): object {
  const { kind, result, agent, code, cache, receipt } = trace;
  return { listener, method, status, kind, result, agent, code, cache, receipt, ms: took };
}

const exchangeLevel = ({ code }: ExchangeReceipt): LogLevel => (code === null ? 'info' : fault(code).level);

function exchangeLine(receipt: ExchangeReceipt): object {
  const {
    id,
    agent,
    purpose,
    trail,
    conditional,
    status,
    outcome,
    code,
    why,
    digest,
    version,
    protocolVersion,
    verdict,
    review,
    took,
  } = receipt;
  return {
    receipt: id,
    agent,
    purpose,
    url: withoutSecrets(trail.requestedUrl),
    ...(trail.finalUrl === trail.requestedUrl ? {} : { finalUrl: withoutSecrets(trail.finalUrl) }),
    addresses: trail.addresses,
    reused: trail.reused,
    conditional,
    status,
    outcome,
    code,
    why,
    digest,
    version,
    protocolVersion,
    signature: verdict?.signature ?? null,
    review,
    ms: took,
  };
}

/** Queries and userinfo may hold credentials: a line has neither. */
function withoutSecrets(url: string): string {
  const parsed = URL.parse(url);
  return parsed === null ? '' : `${parsed.origin}${parsed.pathname}`;
}
