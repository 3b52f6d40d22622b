import { AsyncLocalStorage } from 'node:async_hooks';
import assert from 'node:assert/strict';
import { fieldValue } from '../../src/http/fields.ts';
import { refuse } from '../../src/kernel/refusal.ts';
import type { FetchOrder, FetchResult, Fetcher, WholeResponse } from '../../src/ports.ts';
import { type Moment, type Reading, type Readings } from './extended-readings.ts';

/** How an agent answers for a while. */
export interface Manner {
  readonly says: 200 | 304 | 401 | 403 | 404 | 503 | 'broken' | 'html';
  /** Further fields of its cards. */
  readonly fields: readonly string[];
  /** True where it keeps everybody waiting until it is released. */
  readonly slow: boolean;
}

export const OWN_CREDENTIAL = 'Bearer own-secret';

/** The network, as far as Cardea sees it: an issuer's keys, public cards, and cards that bear the mark of whoever they are made for. */
export class Origins implements Fetcher {
  /** Which request each exchange is made for. */
  readonly #asking = new AsyncLocalStorage<Reading>();
  readonly #readings: Readings;
  readonly #now: () => Moment;
  readonly #jwks: readonly string[];
  #rotations = 0;
  readonly #manners = new Map<string, Manner>();
  readonly #versions = new Map<string, number>();
  readonly #waiting: (() => void)[] = [];
  /** What must never be seen, and was. */
  readonly faults: string[] = [];

  constructor(readings: Readings, now: () => Moment, jwks: readonly string[]) {
    this.#readings = readings;
    this.#now = now;
    this.#jwks = jwks;
  }

  askedFor<Result>(reading: Reading, run: () => Result): Result {
    return this.#asking.run(reading, run);
  }

  behave(agent: string, manner: Partial<Manner>): void {
    this.#manners.set(agent, { ...this.#mannerOf(agent), ...manner });
  }

  publish(agent: string): void {
    this.#versions.set(agent, (this.#versions.get(agent) ?? 0) + 1);
  }

  /** The issuer goes on from one key to the other, and never back. */
  rotate(to: number): void {
    this.#rotations = Math.max(this.#rotations, to);
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  release(which: number): void {
    for (const release of this.#waiting.splice(which % Math.max(1, this.#waiting.length), 1)) release();
  }

  open(): Promise<never> {
    return Promise.reject(new Error('nothing is forwarded here'));
  }

  async fetch(order: FetchOrder): Promise<FetchResult<WholeResponse>> {
    const { host, pathname } = new URL(order.url);
    const authorization = fieldValue(order.fields, 'authorization');
    if (host === 'idp.test') {
      if (this.#rotations === this.#jwks.length - 1) this.#readings.withdraw('first', this.#now().order);
      return said(order, this.#response(200, ['Cache-Control', 'max-age=300'], this.#jwks[this.#rotations] ?? ''));
    }
    if (pathname.startsWith('/.well-known/')) {
      if (authorization !== undefined) this.faults.push('a public card was asked for with a credential');
      const card = cardOf(host, `public ${this.#versions.get(agentAt(host)) ?? 0}`);
      return said(order, this.#response(200, ['Cache-Control', 'max-age=60'], card));
    }
    return this.#extended(order, host, authorization);
  }

  async #extended(
    order: FetchOrder,
    host: string,
    authorization: string | undefined,
  ): Promise<FetchResult<WholeResponse>> {
    const reading = this.#asking.getStore();
    assert.ok(reading, 'an extended card was asked for in nobody’s name');
    const began = this.#now();
    const agent = agentAt(host);
    const own = authorization === OWN_CREDENTIAL;
    if (agent !== reading.agent) this.faults.push(`${agent} was asked for ${reading.agent}`);
    if (!own && authorization !== reading.shown.header) this.faults.push('a credential that the caller has not shown');
    const manner = this.#mannerOf(agent);
    if (manner.slow) await this.#wait(order.signal);
    if (order.signal.aborted) return broken(order);
    const mark = this.#readings.stamp({ reading, host, own, began, made: this.#now() });
    if (manner.says === 'broken') return broken(order);
    if (manner.says === 401 || manner.says === 403) {
      const { who } = reading;
      const ofThat = (each: Reading): boolean => each.who.vouched === who.vouched && each.who.name === who.name;
      this.#readings.end(this.#now().order, `the origin said ${manner.says}`, ofThat);
      return said(order, this.#response(manner.says, ['WWW-Authenticate', 'Bearer realm="agent"'], `no ${mark}`));
    }
    if (manner.says === 'html') return said(order, this.#response(200, ['Content-Type', 'text/html'], `<p>${mark}`));
    const { status, body } = await envelope(order, manner.says, cardOf(host, mark));
    return said(order, this.#response(status, manner.fields, body));
  }

  #wait(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      signal.addEventListener('abort', () => {
        const at = this.#waiting.indexOf(resolve);
        if (at !== -1) this.#waiting.splice(at, 1);
        resolve();
      });
    });
  }

  #mannerOf(agent: string): Manner {
    return this.#manners.get(agent) ?? { says: 200, fields: ['Cache-Control', 'max-age=600'], slow: false };
  }

  #response(status: number, fields: readonly string[], body: string): WholeResponse {
    const date = new Date(this.#now().time).toUTCString();
    const typed = fields.includes('Content-Type') ? fields : [...fields, 'Content-Type', 'application/json'];
    return { status, fields: [...typed, 'Date', date], body: new TextEncoder().encode(body) };
  }
}

/** `ledger-two.test` is where `ledger` moves to. */
const agentAt = (host: string): string => host.replace(/(-two)?\.test$/, '');

async function envelope({ body }: FetchOrder, status: number, card: string) {
  if (body === null || status !== 200) return { status, body: status === 304 ? '' : card };
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  const { id }: { id?: unknown } = JSON.parse(Buffer.concat(chunks).toString());
  return { status, body: JSON.stringify({ jsonrpc: '2.0', id, result: JSON.parse(card) }) };
}

const trailOf = ({ url }: FetchOrder) => ({
  requestedUrl: url,
  finalUrl: url,
  redirects: [],
  addresses: [],
  reused: false,
});

export const said = (order: FetchOrder, response: WholeResponse): FetchResult<WholeResponse> => ({
  ok: true,
  response,
  trail: trailOf(order),
});

const broken = (order: FetchOrder): FetchResult<WholeResponse> => ({
  ok: false,
  refusal: refuse('origin-unreachable', 'The connection broke.'),
  trail: trailOf(order),
  sent: true,
});

export function cardOf(host: string, description: string): string {
  const at = (path: string, protocolBinding: string, more = {}) => ({
    url: `https://${host}/${path}`,
    protocolBinding,
    protocolVersion: '1.0',
    ...more,
  });
  return JSON.stringify({
    name: agentAt(host),
    description,
    version: '1.0.0',
    supportedInterfaces: [
      at('rest', 'HTTP+JSON'),
      at('rpc', 'JSONRPC', { tenant: 'gold' }),
      { ...at('old', 'JSONRPC'), protocolVersion: '0.3' },
    ],
    capabilities: { extendedAgentCard: true },
    securitySchemes: {
      bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } },
      basic: { httpAuthSecurityScheme: { scheme: 'Basic' } },
    },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }, { schemes: { basic: { list: [] } } }],
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'one', name: 'One', description: 'Does one.', tags: ['one'] }],
  });
}
