import { createHash } from 'node:crypto';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { type TestIssuer, createIssuer } from '../support/issuer.ts';
import type { Behave } from '../support/origin-server.ts';
import { type RawResponse, RawSocket } from '../support/raw-socket.ts';
import { type Got, World, type WorldOptions, answers, ask } from '../support/world.ts';

/** A whole daemon before one origin, with an issuer, for callers that mean no good: what the attack tables are run against. */

export const ISSUER = 'https://idp.test';
export const EXTENDED = '/agents/weather/extendedAgentCard';

/** Whose answer a body is: by the credential that the origin was shown, as nobody but a test can read it. */
export const markOf = (authorization: string | undefined): string =>
  `for-${createHash('sha256')
    .update(authorization ?? 'nobody')
    .digest('hex')
    .slice(0, 16)};`;

const interfaceAt = (url: string, protocolBinding: string, more = {}): object => ({
  url,
  protocolBinding,
  protocolVersion: '1.0',
  ...more,
});

/** A card that declares an extended card, in its origin's own words. */
export const cardOf = (url: string, description: string, more = {}): string =>
  JSON.stringify({
    name: 'Weather',
    description,
    version: '1.0.0',
    supportedInterfaces: [
      interfaceAt(`${url}/rest`, 'HTTP+JSON'),
      interfaceAt(`${url}/rpc`, 'JSONRPC'),
      interfaceAt(`${url}/gold`, 'HTTP+JSON', { tenant: 'gold' }),
    ],
    capabilities: { extendedAgentCard: true },
    securitySchemes: {
      bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } },
      basic: { httpAuthSecurityScheme: { scheme: 'Basic' } },
    },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }, { schemes: { basic: { list: [] } } }],
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'forecast', name: 'Forecast', description: 'Forecasts.', tags: ['weather'] }],
    ...more,
  });

interface AttackedOptions extends Omit<WorldOptions, 'origin' | 'agent'> {
  /** Members of `extended` beside the audience, as YAML flow. */
  readonly extended?: string;
  /** Further members of the agent, as YAML flow. */
  readonly agent?: string;
  /** What the issuer's entry says of claims, as YAML flow. */
  readonly claims?: string;
}

export class Attacked {
  readonly world: World;
  readonly idp: TestIssuer;
  /** Somebody else who signs tokens in the same name. */
  readonly stranger: TestIssuer;
  /** How the origin answers for extended cards; undefined for its own card for each credential. */
  behave: Behave | undefined;
  /** Fields of its extended cards. */
  fields: OutgoingHttpHeaders = { 'Cache-Control': 'max-age=600' };
  /** How it answers for the public card; undefined for its card. */
  behavePublic: Behave | undefined;
  #url = '';

  private constructor(world: World, idp: TestIssuer, stranger: TestIssuer) {
    this.world = world;
    this.idp = idp;
    this.stranger = stranger;
    this.#url = world.origin.url;
  }

  static async start({ extended = 'opaque: allow', agent = '', claims, ...rest }: AttackedOptions = {}) {
    const parts: { attacked?: Attacked; now: () => number } = { now: () => 0 };
    const now = (): number => parts.now();
    const [idp, stranger] = await Promise.all([createIssuer(ISSUER, now), createIssuer(ISSUER, now)]);
    const named = claims === undefined ? '' : `, claims: ${claims}`;
    const world = await World.start({
      ...rest,
      origin: (request, response) =>
        request.url === '/jwks.json'
          ? answers(JSON.stringify(idp.jwks), { 'Cache-Control': 'max-age=86400' })(request, response)
          : parts.attacked?.answer(request, response),
      agent: `extended: { audience: weather, ${extended} }${agent === '' ? '' : `, ${agent}`}`,
      config: `${rest.config ?? ''}
principals: { issuers: [{ issuer: "${ISSUER}", audience: [cardea], jwks: "$ORIGIN/jwks.json"${named} }] }
origins: [{ match: "$ORIGIN", content: none, unsafeCleartext: true, unsafeAddresses: [127.0.0.1/32] }]`,
    });
    parts.now = () => world.clock.now();
    const attacked = new Attacked(world, idp, stranger);
    parts.attacked = attacked;
    return attacked;
  }

  get url(): string {
    return this.#url;
  }

  answer(request: IncomingMessage, response: ServerResponse): void {
    if (request.url?.startsWith('/.well-known/') === true) {
      (this.behavePublic ?? answers(cardOf(this.#url, 'public'), { 'Cache-Control': 'max-age=86400' }))(
        request,
        response,
      );
      return;
    }
    (this.behave ?? this.#own)(request, response);
  }

  readonly #own: Behave = (request, response) =>
    answers(cardOf(this.#url, markOf(request.headers.authorization)), this.fields)(request, response);

  /** The Authorization field of a caller, by claims over those of alice. */
  async caller(claims: Readonly<Record<string, unknown>> = {}): Promise<string> {
    return `Bearer ${await this.idp.token({ aud: ['weather'], ...claims })}`;
  }

  extended(authorization: string, more: OutgoingHttpHeaders = {}, path = EXTENDED): Promise<Got> {
    return this.world.get(path, { 'A2A-Version': '1.0', Authorization: authorization, ...more });
  }

  /** Asks for the extended card with field lines as they are written, whatever a client library would make of them. */
  async raw(lines: readonly string[], target = EXTENDED): Promise<RawResponse> {
    const socket = await RawSocket.connect(Number(this.world.base.split(':').at(-1)));
    const head = [`GET ${target} HTTP/1.1`, 'Host: localhost', 'A2A-Version: 1.0'];
    await socket.send([...head, ...lines, '', ''].join('\r\n'));
    const [response] = await socket.responses(1);
    socket.close();
    if (response === undefined) throw new Error('the connection was closed without an answer');
    return response;
  }

  /** Asks the admin API, or orders something of it. */
  admin(target: string, order?: object): Promise<Got> {
    const { token, started } = this.world.daemon;
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const method = order === undefined ? 'GET' : 'POST';
    return ask(
      `http://${started.admin[0]}${target}`,
      { method, headers },
      order === undefined ? '' : JSON.stringify(order),
    );
  }

  /** How often the origin was asked for extended cards. */
  get asked(): number {
    return this.world.origin.asked.filter((line) => !/ \/(\.well-known|jwks)/.test(line)).length;
  }

  /** The Authorization of each request for an extended card. */
  shown(): readonly (string | undefined)[] {
    const { asked, headers } = this.world.origin;
    return headers
      .filter((_, at) => !/ \/(\.well-known|jwks)/.test(asked[at] ?? ''))
      .map((list) => list.find((_, at) => /^authorization$/i.test(list[at - 1] ?? '') && at % 2 === 1));
  }

  stop(): Promise<void> {
    return this.world.stop();
  }
}

/** Whose body an answer holds; undefined where it holds nobody's. */
export const ownerOf = ({ body }: Got): string | undefined => /for-[0-9a-f]{16};/.exec(body)?.[0];

export const isHit = ({ headers }: Got): boolean => /cardea; hit/.test(String(headers['cache-status']));
