import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { CARD, type Got, World, type WorldOptions, answers } from './world.ts';

/** One request for an extended card as the agent got it. */
export interface AskedOf {
  readonly method: string;
  /** The raw target. */
  readonly target: string;
  readonly headers: Readonly<IncomingHttpHeaders>;
  readonly body: string;
}

/** How the agent answers such a request. */
export type Replies = (asked: AskedOf, response: ServerResponse) => void;

interface Agent {
  /** The public card; `$ORIGIN` is the URL of its origin. */
  card: object;
  cardFields: OutgoingHttpHeaders;
  /** How it answers whoever asks for the extended one. */
  replies: Replies;
}

export type ExtendedOptions = Omit<WorldOptions, 'origin'> & Partial<Agent>;

/** A caller, and how its SDK asks. */
export interface Asking {
  /** A bearer token; null for none. */
  readonly token?: string | null;
  readonly over?: 'rest' | 'rpc';
  readonly version?: '1.0' | '0.3';
  readonly tenant?: string;
  readonly headers?: OutgoingHttpHeaders;
}

/** A public card of 1.0 that declares an extended one, with these interfaces. */
export const modernCard = (supportedInterfaces: readonly object[], more: object = {}): object => ({
  ...(JSON.parse(CARD) as object),
  supportedInterfaces,
  capabilities: { extendedAgentCard: true },
  securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
  securityRequirements: [{ schemes: { bearer: { list: [] } } }],
  ...more,
});

/** The same of 0.3, with one interface. */
export function legacyCard(preferredTransport: string, url = '$ORIGIN/old'): object {
  const { supportedInterfaces: _, ...plain } = JSON.parse(CARD) as Record<string, unknown>;
  return {
    ...plain,
    protocolVersion: '0.3.0',
    url,
    preferredTransport,
    supportsAuthenticatedExtendedCard: true,
    securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
    security: [{ bearer: [] }],
  };
}

export const RPC = { url: '$ORIGIN/rpc', protocolBinding: 'JSONRPC', protocolVersion: '1.0' };
export const REST = { url: '$ORIGIN/rest', protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' };

/** Cardea before an agent whose cards a test writes, the public one and each caller's own. */
export class ExtendedWorld implements Agent {
  readonly asked: AskedOf[] = [];
  card: object;
  cardFields: OutgoingHttpHeaders;
  replies: Replies;
  #world: World | undefined;

  private constructor({ card, cardFields, replies }: Partial<Agent>) {
    this.card = card ?? modernCard([RPC]);
    this.cardFields = cardFields ?? { 'Cache-Control': 'max-age=3600' };
    this.replies = replies ?? ((asked, response) => this.gives(this.ownOf(asked))(asked, response));
  }

  static async start(options: ExtendedOptions = {}): Promise<ExtendedWorld> {
    const made = new ExtendedWorld(options);
    const { card: _, cardFields: __, replies: ___, ...world } = options;
    const origin = (request: IncomingMessage, response: ServerResponse): void => void made.#answer(request, response);
    made.#world = await World.start({ ...world, origin });
    return made;
  }

  get world(): World {
    if (this.#world === undefined) throw new Error('the world is not there yet');
    return this.#world;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url?.startsWith('/.well-known/') === true)
      return answers(this.#written(this.card), this.cardFields)(request, response);
    const { method = '', url: target = '', headers } = request;
    const asked = { method, target, headers, body: await text(request) };
    this.asked.push(asked);
    this.replies(asked, response);
  }

  #written(card: object): string {
    return JSON.stringify(card).replaceAll('$ORIGIN', this.world.origin.url);
  }

  /** What the agent shows to whoever has this token: the public card, and a skill for its reader alone. */
  ownOf({ headers }: Pick<AskedOf, 'headers'>, more: object = {}): object {
    const who = (headers.authorization ?? 'nobody').replace(/^Bearer /, '');
    const { skills } = this.card as { skills: readonly object[] };
    const own = { ...skills[0], id: `secret-${who}`, name: `Of ${who}` };
    return { ...this.card, ...more, skills: [...skills, own] };
  }

  /** Answers with a card, in the form in which it was asked for. */
  gives(card: object, fields: OutgoingHttpHeaders = {}): Replies {
    return ({ method, body }, response) => {
      const written = this.#written(card);
      const id = method === 'POST' ? JSON.stringify((JSON.parse(body) as { id: unknown }).id) : undefined;
      reply(response, 200, fields, id === undefined ? written : `{"jsonrpc":"2.0","id":${id},"result":${written}}`);
    };
  }

  /** Asks for the extended card as a caller's SDK does. */
  ask({ token = 'alice', over = 'rest', version = '1.0', tenant, headers = {} }: Asking = {}): Promise<Got> {
    const all = {
      ...(version === '1.0' ? { 'A2A-Version': version } : {}),
      ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
      ...headers,
    };
    if (over === 'rpc') {
      const method = version === '1.0' ? 'GetExtendedAgentCard' : 'agent/getAuthenticatedExtendedCard';
      const request = { jsonrpc: '2.0', id: 'r-1', method, params: tenant === undefined ? {} : { tenant } };
      return this.world.post(BASE, JSON.stringify(request), { ...all, 'Content-Type': 'application/json' });
    }
    const below = version === '1.0' ? 'extendedAgentCard' : 'v1/card';
    return this.world.get(`${BASE}/${tenant === undefined ? '' : `${tenant}/`}${below}`, all);
  }

  stop(): Promise<void> {
    return this.world.stop();
  }
}

const BASE = '/agents/weather';

/** Writes an answer of JSON. */
export function reply(response: ServerResponse, status: number, fields: OutgoingHttpHeaders, body: string): void {
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    ...fields,
  });
  response.end(body);
}

/** An agent that answers with an HTTP status. */
export const statusOf =
  (status: number, fields: OutgoingHttpHeaders = {}, body: object = {}): Replies =>
  (_asked, response) =>
    reply(response, status, fields, JSON.stringify(body));

/** An agent that answers with an error of JSON-RPC, on 200 or another status. */
export const errorOf =
  (code: number, status = 200): Replies =>
  ({ body }, response) => {
    const { id } = JSON.parse(body) as { id: unknown };
    reply(response, status, {}, JSON.stringify({ jsonrpc: '2.0', id, error: { code, message: 'no' } }));
  };

/** For whom the card is that was served; undefined where none was. */
export const secretOf = ({ body }: Got): string | undefined => /"secret-([^"]*)"/.exec(body)?.[1];

export const isHit = ({ headers }: Got): boolean => /; hit/.test(String(headers['cache-status']));
