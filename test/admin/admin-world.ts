import { createAdmin } from '../../src/admin/api.ts';
import { bySocketMode, createTokenDoor, type TokenDoor } from '../../src/admin/authority.ts';
import { type ConsoleFiles, readConsoleFiles } from '../../src/admin/console-files.ts';
import { type EventFeed, createEventFeed } from '../../src/admin/events.ts';
import type { AdminPorts, AgentView } from '../../src/admin/ports.ts';
import type { Answer } from '../../src/kernel/answer.ts';
import type { Ask } from '../../src/kernel/ask.ts';
import type { Event } from '../../src/kernel/event.ts';
import { type Tag, agentName, cardDigest, listenerName, receiptId, tag, urlId } from '../../src/kernel/ids.ts';
import type { Kill } from '../../src/kernel/kill.ts';
import { accepted, refuse, refused } from '../../src/kernel/refusal.ts';
import { epochMs, later, ms } from '../../src/kernel/units.ts';
import type { Evidence } from '../../src/ports.ts';
import { createKeyedHash } from '../../src/store/keyed-hash.ts';
import { createRecentLedger } from '../../src/store/ledger-recent.ts';
import { FakeClock } from '../support/fake-clock.ts';

const FILES: ConsoleFiles = await readConsoleFiles();

export const TOKEN = 'd41d8cd98f00b204e9800998ecf8427e-test';

/** What one request gets. */
export interface Reply {
  readonly status: number;
  readonly body: string;
  readonly json: Record<string, unknown>;
  field(name: string): string | undefined;
}

export interface Request {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
}

/** An admin API whose daemon is a few lines: what was done with it is written down here. */
export class AdminWorld {
  readonly clock = new FakeClock();
  readonly events: Event[] = [];
  readonly done: string[] = [];
  readonly feed: EventFeed = createEventFeed(this.clock);
  readonly ledger: Evidence;
  readonly ports: AdminPorts;
  kills: Kill[] = [];
  persisted = true;
  fileIsThere = false;
  token = TOKEN;
  readonly door: TokenDoor = createTokenDoor(() => this.token, this.clock);
  /** The API itself, for a listener. */
  readonly handle;
  readonly #socket;

  constructor() {
    const observer = { record: (event: Event) => void this.events.push(event) };
    const keyedHash = createKeyedHash(new Uint8Array(32));
    this.ledger = createRecentLedger({ clock: this.clock, observer, keyedHash });
    this.ports = this.#makePorts();
    this.handle = createAdmin(this.ports, this.door.check);
    this.#socket = createAdmin({ ...this.ports, console: null }, bySocketMode);
  }

  /** Asks with the token. */
  ask(target: string, request: Request = {}): Promise<Reply> {
    return this.raw(target, { ...request, headers: { authorization: `Bearer ${TOKEN}`, ...request.headers } });
  }

  /** Orders something with the token, as JSON. */
  order(method: string, target: string, body: unknown): Promise<Reply> {
    return this.ask(target, { method, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } });
  }

  /** Asks with these fields alone. */
  async raw(target: string, request: Request = {}): Promise<Reply> {
    return replyOf(await this.handle(askOf(target, request)));
  }

  async bySocket(target: string, request: Request = {}): Promise<Reply> {
    return replyOf(await this.#socket(askOf(target, request)));
  }

  async stream(target: string, signal: AbortSignal): Promise<AsyncIterator<Uint8Array>> {
    const { body } = await this.handle(askOf(target, { signal, headers: { authorization: `Bearer ${TOKEN}` } }));
    if (body === null || body instanceof Uint8Array) throw new Error('is no stream');
    return body[Symbol.asyncIterator]();
  }

  #makePorts(): AdminPorts {
    return {
      clock: this.clock,
      ledger: this.ledger,
      events: this.feed,
      console: { files: FILES, door: this.door },
      kills: {
        active: () => this.kills,
        persisted: () => this.persisted,
        engage: async ({ scope, reason, by }) => {
          const kill = { id: `k${this.kills.length}`, scope, reason, by, at: this.clock.now() };
          this.kills.push(kill);
          return accepted(this.persisted ? { kill, persisted: true } : { kill, persisted: false, error: 'disk full' });
        },
        lift: async ({ id }) => {
          if (this.fileIsThere) return refused(refuse('conflict', 'The kill file is there.'));
          const kill = this.kills.find((each) => each.id === id);
          if (kill === undefined) return refused(refuse('not-found', 'No kill of this id.'));
          this.kills = this.kills.filter((each) => each !== kill);
          return accepted({ kill, persisted: true });
        },
      },
      reviews: {
        of: (agent) =>
          agent === 'weather'
            ? {
                rule: { firstUse: 'allow', maxHold: 1, pins: [], actions: {} },
                suspended: null,
                pending: [],
                inForce: [],
                history: [],
                decisions: [],
              }
            : undefined,
        waiting: () => [],
        judge: async () => accepted({ signature: 'unsigned' }),
        decide: async (order) => {
          this.done.push(`${order.action} ${order.agent} ${order.digest}`);
          return accepted({ ...order, id: receiptId('r-1'), at: this.clock.now() });
        },
      },
      agents: () => [this.#weather()],
      agent: (agent) => (agent === 'weather' ? this.#weather() : undefined),
      card: () => ({ body: new TextEncoder().encode('{"name":"Weather"}'), contentType: 'application/json' }),
      refresh: async (agent) => {
        this.done.push(`refresh ${agent}`);
        return accepted({ outcome: 'stored', digest: null });
      },
      preview: (scope) => ({
        agents: [agentName('weather')],
        entries: scope === 'all' ? 2 : 1,
        extended: 0,
        callers: 0,
        streams: 0,
      }),
      hasRegistry: (name) => name === 'catalog',
      refreshRegistry: async (name) => {
        this.done.push(`read ${name}`);
        return accepted([]);
      },
      purge: async (tags: readonly Tag[], soft) => {
        this.done.push(`purge ${tags.join(' ')}${soft ? ' softly' : ''}`);
        return 3;
      },
      revoke: async ({ kind, name, by }) => {
        this.done.push(`revoke ${kind} ${name} by ${by}`);
        const scope = tag(`${kind}:${this.ledger.keyedHash(kind, name)}`);
        return accepted({ scope, at: this.clock.now(), dropped: 2, persisted: true, receipt: receiptId('r-2') });
      },
      reload: async () => {
        this.done.push('reload');
        return accepted({ digest: 'abc' });
      },
      drain: () => void this.done.push('drain'),
      config: () => ({ settings: { state: 'memory' } }),
      describe: (target) =>
        target === 'weather'
          ? {
              agent: agentName('weather'),
              rule: 'agents.weather',
              url: urlId('https://weather.example.com/card'),
              tags: this.#weather().tags,
              refusal: null,
            }
          : undefined,
    };
  }

  #weather(): AgentView {
    return {
      agent: agentName('weather'),
      state: 'fresh',
      lastSuccess: this.clock.now(),
      freshUntil: later(this.clock.now(), ms(60_000)),
      staleSince: epochMs(0),
      signature: 'verified',
      version: '1.0.0',
      protocolVersion: '1.0',
      digest: cardDigest('ab'.repeat(32)),
      urls: [urlId('https://weather.example.com/card')],
      tags: ['agent:weather', 'origin:weather.example.com', 'origin:weather.example.com:8443'].map(tag),
      name: 'Weather',
      verdict: { signature: 'verified', kid: 'key-1', alg: 'ES256', keys: 'example', form: 'a2a-1.0' },
      reviewed: 'allowed',
      lifetime: 60_000,
      staleUntil: epochMs(0),
      setback: null,
      registry: null,
      pending: {},
    };
  }
}

export function askOf(target: string, { method = 'GET', headers = {}, body, signal }: Request): Ask {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  return {
    listener: listenerName('admin'),
    base: 'http://127.0.0.1:8643',
    method,
    target,
    host: '127.0.0.1',
    proxied: null,
    peer: { principal: null, certificate: null },
    field: (name) => headers[name],
    fields: Object.entries(headers).flat(),
    body: bytes === undefined ? null : chunks(bytes),
    ownsBase: () => true,
    signal: () => signal ?? new AbortController().signal,
  };
}

async function* chunks(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 1_000) yield bytes.subarray(at, at + 1_000);
}

function replyOf({ status, fields, body }: Answer): Reply {
  const text = body instanceof Uint8Array ? new TextDecoder().decode(body) : '';
  const value: unknown = /^[{[]/.test(text) ? JSON.parse(text) : {};
  return {
    status,
    body: text,
    json: value as Record<string, unknown>,
    field(name) {
      const at = fields.findIndex((each, index) => index % 2 === 0 && each.toLowerCase() === name);
      return at === -1 ? undefined : fields[at + 1];
    },
  };
}
