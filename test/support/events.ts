import type { Trace } from '../../src/kernel/answer.ts';
import type { Event } from '../../src/kernel/event.ts';
import { type AgentName, agentName, listenerName, receiptId, urlId } from '../../src/kernel/ids.ts';
import type { ExchangeReceipt } from '../../src/kernel/receipt.ts';
import { epochMs, ms } from '../../src/kernel/units.ts';

export const WEATHER: AgentName = agentName('weather');

/** A request answered from the cache. */
export const requested = (trace: Partial<Trace> = {}, took = 1): Extract<Event, { kind: 'request' }> => ({
  kind: 'request',
  listener: listenerName('agents'),
  method: 'GET',
  status: 200,
  trace: { kind: 'public', result: 'hit', agent: WEATHER, ...trace },
  took: ms(took),
});

const URL_OF_CARD = urlId('https://weather.example.com/.well-known/agent-card.json');

/** The receipt of a card that was fetched and stored. */
export const exchange = (more: Partial<ExchangeReceipt> = {}): ExchangeReceipt => ({
  kind: 'exchange',
  id: receiptId('r-1'),
  at: epochMs(1_800_000_000_000),
  purpose: 'card',
  agent: WEATHER,
  variant: null,
  trail: { requestedUrl: URL_OF_CARD, finalUrl: URL_OF_CARD, redirects: [], addresses: ['203.0.113.7'], reused: false },
  conditional: false,
  changes: [],
  status: 200,
  caching: {},
  digest: null,
  version: '1.0.0',
  protocolVersion: '1.0',
  interfaceUrl: null,
  verdict: { signature: 'unsigned' },
  review: 'allowed',
  warnings: [],
  outcome: 'stored',
  code: null,
  why: null,
  policy: null,
  took: ms(20),
  ...more,
});

export const exchanged = (more: Partial<ExchangeReceipt> = {}): Event => ({ kind: 'receipt', receipt: exchange(more) });
