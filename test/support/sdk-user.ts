import assert from 'node:assert/strict';
import {
  type Client,
  ClientFactory,
  ClientFactoryOptions,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';

/** What one client was shown, as its user sees it and as it was on the wire. */
interface Shown {
  /** For whom the skill is that no other card has; undefined where the client got no card. */
  readonly secret: string | undefined;
  readonly status: number;
  readonly isHit: boolean;
  /** The refusal's code, and what is asked for. */
  readonly code: string | undefined;
  readonly challenge: string | null;
}

/** The last answer that the client got. */
interface Wire {
  last: Response | undefined;
  body: string;
}

/** A user whose client is the official SDK's, with a bearer token or without. */
export class SdkUser {
  readonly #client: Client;
  readonly #wire: Wire;

  private constructor(client: Client, wire: Wire) {
    this.#client = client;
    this.#wire = wire;
  }

  static async at(url: string, binding: string, token: string | null): Promise<SdkUser> {
    const wire: Wire = { last: undefined, body: '' };
    const fetchImpl: typeof fetch = async (target, init) => {
      const headers = new Headers(init?.headers);
      if (token !== null) headers.set('Authorization', `Bearer ${token}`);
      wire.last = await fetch(target, { ...init, headers });
      wire.body = await wire.last.clone().text();
      return wire.last;
    };
    const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
      preferredTransports: [binding],
      transports: [new JsonRpcTransportFactory({ fetchImpl }), new RestTransportFactory({ fetchImpl })],
    });
    return new SdkUser(await new ClientFactory(options).createFromUrl(url), wire);
  }

  /** Asks for the card as the SDK does; a client that is refused must say why. */
  async look(): Promise<Shown> {
    const { last: earlier } = this.#wire;
    const got = await this.#client.getAgentCard().then(
      ({ skills }) => ({ skills, error: '' }),
      (error: unknown) => ({ skills: [], error: String(error) }),
    );
    const { last, body } = this.#wire;
    assert.ok(last !== undefined && last !== earlier, got.error);
    const code = /"\/problems\/([\w-]+)"/.exec(body)?.[1];
    assert.equal(got.error === '', code === undefined, `${got.error} ${body}`);
    const secrets = got.skills.map(({ id }) => id).filter((id) => id.startsWith('secret-'));
    return {
      secret: secrets.join().replace('secret-', '') || undefined,
      status: last.status,
      isHit: /; hit/.test(last.headers.get('cache-status') ?? ''),
      code,
      challenge: last.headers.get('www-authenticate'),
    };
  }
}
