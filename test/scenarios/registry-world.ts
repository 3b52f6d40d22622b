import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import type { AgentView } from '../../src/admin/ports.ts';
import { type OriginServer, type Behave, startOrigin } from '../support/origin-server.ts';
import { BASE, serves } from './review-world.ts';
import { type Got, World, type WorldOptions, ask } from '../support/world.ts';

/** Makes a path that nobody else has each time; what is there goes with the tests of the file. */
export function createPaths(): () => string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'cardea-registry-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  let made = 0;
  return () => path.join(folder, String((made += 1)));
}

/** A world that ends with the test that begins it. */
export async function begin(options: RegistryOptions = {}): Promise<Registered> {
  const here = await Registered.start(options);
  after(() => here.stop());
  return here;
}

export const PAY = 'urn:air:example.com:agents:pay';
export const PAY_PATH = '/agents/pay/.well-known/agent-card.json';
/** The agent that the registry lists, beside the ordinary one of the world. */
export const PAY_CARD = { ...BASE, name: 'Pay', description: 'Pays bills.' };

const LIFECYCLE = 'https://ai-catalog.org/extensions/lifecycle';

/** One entry of a catalog. */
export const entry = (url: string, status?: string, more: object = {}) => ({
  identifier: PAY,
  type: 'application/a2a-agent-card+json',
  url,
  ...(status === undefined ? {} : { extensions: { [LIFECYCLE]: { status } } }),
  ...more,
});
export const catalog = (...entries: readonly object[]) => ({ specVersion: '1.0', entries });

export interface RegistryOptions extends WorldOptions {
  /** The whole registry, as YAML flow, without its name and kind; `$REGISTRY` is its URL. */
  readonly registry?: string;
  /** Further members of the agent `pay`, as YAML flow. */
  readonly pay?: string;
  /** The rule that covers the card's origin, without its match; else cards may be there. */
  readonly rule?: string;
  /** Where the registry is; else on a free port. */
  readonly registryPort?: number;
  readonly says?: Behave;
}

/** A daemon, a registry, the origin of the agent that it lists, and an administrator. */
export class Registered {
  readonly world: World;
  readonly registry: OriginServer;
  readonly #script: { behave: Behave };
  readonly #state: string | undefined;
  #stopped: Promise<void> | undefined;

  private constructor(parts: {
    world: World;
    registry: OriginServer;
    script: { behave: Behave };
    state: string | undefined;
  }) {
    this.world = parts.world;
    this.registry = parts.registry;
    this.#script = parts.script;
    this.#state = parts.state;
  }

  /** Starts with the card at the world's origin, listed unless it is said otherwise. */
  static async start(options: RegistryOptions = {}): Promise<Registered> {
    const script: { behave: Behave } = { behave: options.says ?? refuses };
    const registry = await startOrigin(
      (request, response) => script.behave(request, response),
      options.registryPort === undefined ? {} : { port: options.registryPort },
    );
    const reach = 'unsafeCleartext: true, unsafeAddresses: [127.0.0.1/32]';
    const written = (options.registry ?? 'url: $REGISTRY/catalog.json').replaceAll('$REGISTRY', registry.url);
    const config = `${options.config?.includes('cache:') === true ? '' : 'cache: { prefetch: false, staleWhileRevalidate: 0s }\n'}registries: [{ name: catalog, kind: ai-catalog, ${written} }]
origins:
  - { match: "$ORIGIN", ${options.rule ?? 'content: card'}, ${reach} }
  - { match: "${registry.url}", content: none, ${reach} }
${options.config ?? ''}`;
    const agents = `pay: { registry: catalog, id: "${PAY}"${options.pay === undefined ? '' : `, ${options.pay}`} }`;
    const world = await World.start({
      origin: serves(PAY_CARD),
      ...options,
      config,
      agents: [...(options.agents ?? []), agents],
    });
    const here = new Registered({ world, registry, script, state: options.state });
    if (options.says === undefined) {
      here.lists();
      await here.read();
    }
    return here;
  }

  get card(): string {
    return `${this.world.origin.url}/card.json`;
  }

  /** From now on the registry answers like this. */
  says(behave: Behave): void {
    this.#script.behave = behave;
  }

  /** From now on the registry lists the agent like this. */
  lists(status?: string, url = this.card): void {
    this.says(json(catalog(entry(url, status))));
  }

  /** An administrator has the registry read. */
  async read(): Promise<Got> {
    return this.admin('POST /registries/catalog/refresh', { reason: 'it has changed' });
  }

  /** The registry lists the agent like this, and is read. */
  async now(status?: string, url = this.card): Promise<void> {
    this.lists(status, url);
    await this.read();
  }

  pay(headers: Readonly<Record<string, string>> = {}): Promise<Got> {
    return this.world.get(PAY_PATH, headers);
  }

  async view(): Promise<AgentView> {
    return JSON.parse((await this.admin('GET /agents/pay')).body) as AgentView;
  }

  /** What stands under a kind of receipt, newest first. */
  async receipts(kind: string): Promise<readonly Record<string, unknown>[]> {
    const { receipts } = JSON.parse((await this.admin('GET /receipts?limit=100')).body) as {
      receipts: Record<string, unknown>[];
    };
    return receipts.filter((each) => each['kind'] === kind);
  }

  async admin(order: string, body?: object): Promise<Got> {
    const [method = 'GET', target = ''] = order.split(' ');
    const headers = { authorization: `Bearer ${this.#token()}`, 'content-type': 'application/json' };
    const url = `http://${this.world.daemon.started.admin[0]}${target}`;
    return ask(url, { method, headers }, body && JSON.stringify(body));
  }

  /** Ends it; once. */
  stop(): Promise<void> {
    return (this.#stopped ??= this.world.stop().then(() => this.registry.close()));
  }

  /** Lets time pass until the registry says this of the agent: what comes by the disk comes when it does. */
  async until(status: string): Promise<void> {
    while ((await this.view()).registry?.status !== status) await this.world.pass(1);
  }

  #token(): string {
    const { token } = this.world.daemon;
    return token ?? readFileSync(path.join(this.#state ?? '', 'admin-token'), 'utf8').trim();
  }
}

export const json =
  (value: object): Behave =>
  (_request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/ai-catalog+json' });
    response.end(JSON.stringify(value));
  };

/** A registry that is down. */
export const refuses: Behave = (request) => void request.socket.destroy();
