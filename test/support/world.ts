import fs from 'node:fs';
import http from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { type Daemon, type World as Given, startDaemon } from '../../src/daemon.ts';
import { inspectKeys } from '../../src/cli/inspect-keys.ts';
import { loadConfig } from '../../src/config/load.ts';
import { formatProblem } from '../../src/config/place.ts';
import { loadText } from './config.ts';
import { FakeClock } from './fake-clock.ts';
import { type Behave, type OriginServer, startOrigin } from './origin-server.ts';

/** One answer as a client on a real socket got it. */
export interface Got {
  readonly status: number;
  readonly headers: Readonly<http.IncomingHttpHeaders>;
  readonly body: string;
  /** The body as it came, content coding and all. */
  readonly bytes: Buffer;
  /** The problem's code, where the body is one. */
  readonly code: string | undefined;
}

/** What a test says of its world. */
export interface WorldOptions {
  /** How the origin of the agent `weather` answers; `says` changes it later. */
  readonly origin?: Behave;
  /** Lines of configuration beside the agents; here and in `agent`, `$ORIGIN` is the URL of the origin. */
  readonly config?: string;
  /** The listeners, as YAML flow; else each is on a free port. */
  readonly listen?: string;
  /** Further members of the agent `weather`, as YAML flow. */
  readonly agent?: string;
  /** Further agents, each as a line of YAML; `$ORIGIN` is the URL of the origin here too. */
  readonly agents?: readonly string[];
  /** How changed cards are decided, as YAML flow; else every change is taken: reviews have scenarios of their own. */
  readonly review?: string;
  /** A folder for what outlives this world; else it keeps nothing. */
  readonly state?: string;
  /** Where the origin is; else on a free port. A restarted daemon finds its card by it. */
  readonly port?: number;
  /** Where the configuration lies on disk; else it is in memory. */
  readonly file?: string;
  /** Waits for the first prefetch before the test begins. */
  readonly prefetch?: boolean;
  /** Asks everything on one connection to each listener that is kept; else each request has its own. */
  readonly keepsConnection?: boolean;
}

/** A daemon in this process with a clock that stands still, an origin on loopback and a client: a scenario is a dialogue of the three. */
export class World {
  readonly clock: FakeClock;
  readonly origin: OriginServer;
  readonly daemon: Daemon;
  readonly log: string[];
  readonly #script: Script;
  readonly #agent: http.Agent | false;

  private constructor(parts: {
    clock: FakeClock;
    origin: OriginServer;
    daemon: Daemon;
    log: string[];
    script: Script;
    agent: http.Agent | false;
  }) {
    this.clock = parts.clock;
    this.origin = parts.origin;
    this.daemon = parts.daemon;
    this.log = parts.log;
    this.#script = parts.script;
    this.#agent = parts.agent;
  }

  static async start(options: WorldOptions = {}): Promise<World> {
    const clock = new FakeClock();
    const script = { behave: options.origin ?? answers(CARD), written: '', file: options.file };
    const origin = await startOrigin((request, response) => {
      response.setHeader('Date', new Date(clock.now()).toUTCString()); // the origin lives in the same time
      script.behave(request, response);
    }, options);
    write(script, configuration(origin.url, options));
    const config = await load(script);
    if (!config.ok) throw new Error(config.problems.map(formatProblem).join('\n'));
    const log: string[] = [];
    const given: Given = { clock, log: { write: (line: string) => void log.push(line) } };
    const daemon = await startDaemon(config, given, () => load(script)).catch(async (error: unknown) => {
      await origin.close();
      throw error;
    });
    if (options.prefetch === true) await daemon.prefetched;
    const agent = options.keepsConnection === true ? new http.Agent({ keepAlive: true, maxSockets: 1 }) : false;
    return new World({ clock, origin, daemon, log, script, agent });
  }

  /** From now on the origin answers like this. */
  says(behave: Behave): void {
    this.#script.behave = behave;
  }

  /** The configuration as it is written. */
  get written(): string {
    return this.#script.written;
  }

  /** Writes another one; it takes a reload to adopt it. */
  writes(text: string): void {
    write(this.#script, text);
  }

  get base(): string {
    return `http://${this.daemon.started.agents[0]}`;
  }

  /** Asks the agents listener, or a path on another one given as a whole URL. */
  get(path: string, headers: http.OutgoingHttpHeaders = {}, method = 'GET'): Promise<Got> {
    return ask(path.startsWith('http') ? path : this.base + path, { agent: this.#agent, headers, method });
  }

  /** Asks for the card of the agent `weather`. */
  card(headers: http.OutgoingHttpHeaders = {}, method = 'GET'): Promise<Got> {
    return this.get(CARD_PATH, headers, method);
  }

  post(path: string, body: string, headers: http.OutgoingHttpHeaders = {}): Promise<Got> {
    return ask(this.base + path, { agent: this.#agent, headers, method: 'POST' }, body);
  }

  async metric(line: RegExp): Promise<string | undefined> {
    const { body } = await this.get(`http://${this.daemon.started.ops[0]}/metrics`);
    return body.split('\n').find((each) => line.test(each));
  }

  /** The log's lines of one message, parsed. */
  logged(msg: string): readonly Record<string, unknown>[] {
    return this.log.map((line) => JSON.parse(line) as Record<string, unknown>).filter((line) => line['msg'] === msg);
  }

  /** Waits until the origin has been asked so often. */
  async asked(times: number): Promise<void> {
    while (this.origin.asked.length < times) await turn();
  }

  /** Lets seconds pass one by one, so that what starts in one can end before its deadline comes. */
  async pass(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second += 1) {
      await this.clock.advance(1_000);
      await this.quiet();
    }
  }

  /** Waits until nothing that runs behind is on its way. */
  quiet(): Promise<void> {
    return this.daemon.settled();
  }

  async stop(): Promise<void> {
    if (this.#agent !== false) this.#agent.destroy();
    const drained = this.daemon.drain();
    await this.clock.advance(500);
    await this.origin.close();
    await drained;
  }
}

/** What a world goes by; a test changes it. */
interface Script {
  behave: Behave;
  written: string;
  readonly file: string | undefined;
}

function write(script: Script, text: string): void {
  script.written = text;
  if (script.file !== undefined) fs.writeFileSync(script.file, text);
}

const load = ({ file, written }: Script): ReturnType<typeof loadText> =>
  file === undefined
    ? loadText(written)
    : loadConfig({ file, flags: [], env: {}, cwd: '/', readFile: fs.promises.readFile, inspectKeys });

export const CARD_PATH = '/agents/weather/.well-known/agent-card.json';

/** A small card that every level of validation takes. */
export const CARD = JSON.stringify({
  name: 'Weather',
  description: 'Tells the weather.',
  version: '1.0.0',
  supportedInterfaces: [{ url: 'https://127.0.0.1/rpc', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: {},
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'forecast', name: 'Forecast', description: 'Forecasts.', tags: ['weather'] }],
});

/** The same card with another description. */
export const OTHER_CARD = CARD.replace('Tells the weather.', 'Tells tomorrow.');

/** An origin that answers 200 with a card and these fields. */
export const answers =
  (body: string, fields: http.OutgoingHttpHeaders = {}): Behave =>
  (_request, response) => {
    response.writeHead(200, {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
      ...fields,
    });
    response.end(body);
  };

/** An origin that answers another status, without a body. */
export const fails =
  (status: number, fields: http.OutgoingHttpHeaders = {}): Behave =>
  (_request, response) => {
    response.writeHead(status, { 'Content-Length': 0, ...fields });
    response.end();
  };

/** An origin that breaks the connection off. */
export const breaks: Behave = (request) => void request.socket.destroy();

const FREE_PORTS = '{ agents: "127.0.0.1:0", ops: "127.0.0.1:0", admin: "127.0.0.1:0" }';

/** A review, as YAML flow, that takes every change. */
export const TAKES_ALL =
  '{ identity: allow, endpoint: allow, protocol: allow, security: allow, signature: allow, extension: allow, ' +
  'capability: allow, skillAdded: allow, skillText: allow, skillIo: allow }';

function configuration(url: string, options: WorldOptions): string {
  const { config = '', agent = '', state = 'memory', prefetch = false, listen = FREE_PORTS } = options;
  const more = `, review: ${options.review ?? TAKES_ALL}${agent === '' ? '' : `, ${agent}`}`;
  return `listen: ${listen}
state: ${state}
agents:
  weather: { origin: "${url}", unsafeCleartext: true, unsafeAddresses: [127.0.0.1/32]${more} }
${(options.agents ?? []).map((line) => `  ${line}\n`).join('')}${config.includes('cache:') ? config : `cache: { prefetch: ${prefetch} }\n${config}`}
`.replaceAll('$ORIGIN', url);
}

/** One request on a connection of its own. */
export function ask(url: string, options: http.RequestOptions, body = ''): Promise<Got> {
  return new Promise((resolve, reject) => {
    const request = http.request(url, { agent: false, ...options }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => resolve(gotOf(response, Buffer.concat(chunks))));
    });
    request.on('error', reject);
    request.end(body);
  });
}

function gotOf({ statusCode = 0, headers }: http.IncomingMessage, bytes: Buffer): Got {
  const body = bytes.toString();
  const isProblem = /json/.test(headers['content-type'] ?? '') && statusCode >= 400 && body !== '';
  const code = isProblem ? (JSON.parse(body) as { code?: string }).code : undefined;
  return { status: statusCode, headers, body, bytes, code };
}
