import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { decodeJwt } from 'jose';
import { type Daemon, startDaemon } from '../../src/daemon.ts';
import { parseScope } from '../../src/kernel/kill.ts';
import { validConfig } from '../support/config.ts';
import { type ExtendedAgent, startExtendedAgent } from '../support/extended-agent.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { type TestIssuer, createIssuer } from '../support/issuer.ts';
import { type OriginServer, startOrigin } from '../support/origin-server.ts';
import { SdkUser } from '../support/sdk-user.ts';
import { type Got, ask } from '../support/world.ts';

/** The official SDK at both ends: its server has a card for each user, its client asks for one through Cardea. */

const ISSUER = 'https://idp.test';
const BINDINGS = ['JSONRPC', 'HTTP+JSON'] as const;

/** Cardea in front of such an agent; every test has a new one, so that it begins with nothing. */
class Front {
  readonly clock = new FakeClock(Date.now());
  readonly log: string[] = [];
  readonly #agent: ExtendedAgent;
  readonly #more: string;
  readonly #extended: string;
  #daemon: Daemon | undefined;

  constructor(agent: ExtendedAgent, extended = '', more = '') {
    this.#agent = agent;
    this.#extended = extended;
    this.#more = more;
  }

  async start(): Promise<void> {
    await this.stop();
    this.#agent.asked.length = 0;
    this.#agent.refused.clear();
    const local = 'route: through, unsafeCleartext: true, unsafeAddresses: [127.0.0.1/32]';
    const config = await validConfig(`
listen: { agents: "127.0.0.1:0", ops: "127.0.0.1:0", admin: "127.0.0.1:0" }
state: memory
agents: { ledger: { origin: "${this.#agent.url}", ${this.#extended}${local} } }
cache: { prefetch: false }
${this.#more}
`);
    const log = { write: (line: string) => void this.log.push(line) };
    this.#daemon = await startDaemon(config, { clock: this.clock, log }, async () => config);
  }

  async stop(): Promise<void> {
    const drained = this.#daemon?.drain();
    await this.clock.advance(500);
    await drained;
    this.#daemon = undefined;
  }

  get daemon(): Daemon {
    assert.ok(this.#daemon !== undefined);
    return this.#daemon;
  }

  at(path: string): string {
    return `http://${this.daemon.started.agents[0]}${path}`;
  }

  revoke(principal: string): Promise<Got> {
    const headers = { Authorization: `Bearer ${this.daemon.token}`, 'Content-Type': 'application/json' };
    const url = `http://${this.daemon.started.admin[0]}/principals/revoke`;
    return ask(url, { method: 'POST', headers }, JSON.stringify({ principal, reason: 'stolen laptop' }));
  }

  user(binding: string, token: string | null): Promise<SdkUser> {
    return SdkUser.at(this.at('/agents/ledger/'), binding, token);
  }

  /** Who asked the agent, in order. */
  get askers(): readonly string[] {
    return this.#agent.asked.map((line) => line.replace(/^\S+ \S+ /, ''));
  }
}

type Claims = Readonly<Record<string, unknown>>;

/** What the agent makes of a token of the issuer that it knows: who it is for, in full. */
function userOf(token: string): string | undefined {
  const { iss, sub, tenant, scope, roles } = decodeJwt(token);
  return iss === ISSUER ? [sub, tenant, scope, roles].flat().filter(Boolean).join('+') : undefined;
}

for (const binding of BINDINGS) {
  describe(`the official SDK at both ends, over ${binding}, its users named by an issuer`, () => {
    let agent: ExtendedAgent;
    let idp: TestIssuer;
    let keys: OriginServer;
    let front: Front;

    before(async () => {
      agent = await startExtendedAgent(userOf, binding);
      keys = await startOrigin((_request, response) => {
        response.setHeader('Content-Type', 'application/json').end(JSON.stringify(idp.jwks));
      });
      const local = 'unsafeCleartext: true, unsafeAddresses: [127.0.0.1/32]';
      front = new Front(
        agent,
        'extended: { audience: ledger }, ',
        `origins: [{ match: "${keys.url}", content: none, ${local} }]
principals: { issuers: [{ issuer: "${ISSUER}", audience: [cardea], jwks: "${keys.url}/jwks.json" }] }`,
      );
      idp = await createIssuer(ISSUER, () => front.clock.now());
    });
    beforeEach(() => front.start());
    after(async () => {
      await front.stop();
      await agent.stop();
      await keys.close();
    });

    const tokenFor = (claims: Claims = {}): Promise<string> => idp.token({ aud: ['ledger'], ...claims });
    const userWith = async (claims: Claims = {}): Promise<SdkUser> => front.user(binding, await tokenFor(claims));
    const ADMIN = { sub: 'admin', scope: 'cards:read cards:admin', roles: ['admin'] };
    const ADMIN_NAME = 'admin+acme+cards:read cards:admin+admin';
    const target = binding === 'JSONRPC' ? 'POST /rpc' : 'GET /rest/extendedAgentCard';

    test("the admin's card is fetched once and from then on cached, for every client of the admin", async () => {
      const admin = await userWith(ADMIN);
      const first = await admin.look();
      assert.deepEqual([first.secret, first.isHit], [ADMIN_NAME, false]);
      for (const each of [admin, await userWith(ADMIN), await userWith({ ...ADMIN, jti: 'renewed' })]) {
        const again = await each.look();
        assert.deepEqual([again.secret, again.isHit], [ADMIN_NAME, true]);
      }
      assert.deepEqual(agent.asked, [`${target} ${ADMIN_NAME}`]);
    });

    const OTHERS: readonly (readonly [who: string, claims: Claims, name: string])[] = [
      ['a normal user', { sub: 'alice' }, 'alice+acme+cards:read'],
      ['the same user in another tenant', { ...ADMIN, tenant: 'globex' }, ADMIN_NAME.replace('acme', 'globex')],
      ['the same user with fewer scopes', { ...ADMIN, scope: 'cards:read' }, 'admin+acme+cards:read+admin'],
      ['the same user after a role was taken away', { ...ADMIN, roles: [] }, 'admin+acme+cards:read cards:admin'],
    ];
    for (const [who, claims, name] of OTHERS) {
      test(`${who} is shown a card of its own, with the admin's in the cache`, async () => {
        await (await userWith(ADMIN)).look();
        await front.clock.advance(1_000);
        const other = await userWith(claims);
        const first = await other.look();
        assert.deepEqual([first.secret, first.isHit], [name, false]);
        const again = await other.look();
        assert.deepEqual([again.secret, again.isHit], [name, true]);
        assert.deepEqual(front.askers, [ADMIN_NAME, name]);
      });
    }

    const REFUSED: readonly (readonly [who: string, token: () => Promise<string | null>, code: string])[] = [
      ['an anonymous caller', () => Promise.resolve(null), 'principal-required'],
      ['an expired token', () => tokenFor({ ...ADMIN, exp: seconds() - 60 }), 'token-expired'],
      ['a token that is not yet valid', () => tokenFor({ ...ADMIN, nbf: seconds() + 60 }), 'token-expired'],
      ['a token for Cardea alone', () => tokenFor({ ...ADMIN, aud: 'cardea' }), 'token-audience'],
      ['a token for Cardea of an issuer that nobody vouches for', () => strangers(ADMIN), 'token-issuer'],
      ['a token for another audience', () => tokenFor({ ...ADMIN, aud: 'other' }), 'token-audience'],
      ['a token with a changed signature', async () => broken(await tokenFor(ADMIN)), 'token-invalid'],
    ];
    const strangers = async (claims: Claims): Promise<string> => {
      const evil = await createIssuer('https://evil.test', () => front.clock.now());
      return evil.token({ ...claims, aud: 'cardea' });
    };
    const seconds = (): number => Math.floor(front.clock.now() / 1000);
    /** Changes the tenth character of the signature: still base64url, and no signature over anything. */
    const broken = (token: string): string => {
      const at = token.lastIndexOf('.') + 10;
      return `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`;
    };
    for (const [who, token, code] of REFUSED) {
      test(`${who} is refused with ${code}, the agent is not asked, and the admin's card stays`, async () => {
        const admin = await userWith(ADMIN);
        await admin.look();
        // The client gets the public card without a credential, as SDKs do.
        const got = await (await front.user(binding, await token())).look();
        assert.deepEqual([got.secret, got.status, got.code], [undefined, 401, code]);
        assert.match(got.challenge ?? '', /^Bearer/);
        assert.deepEqual(front.askers, [ADMIN_NAME]);
        assert.ok((await admin.look()).isHit);
      });
    }

    test('a token of another issuer that names the admin goes to the agent, whose refusal it gets', async () => {
      await (await userWith(ADMIN)).look();
      const evil = await createIssuer('https://evil.test', () => front.clock.now());
      const got = await (await front.user(binding, await evil.token({ ...ADMIN, aud: ['ledger'] }))).look();
      assert.deepEqual([got.secret, got.status, got.code], [undefined, 401, 'extended-refused']);
      assert.equal(got.challenge, 'Bearer realm="agent"');
      assert.deepEqual(front.askers, [ADMIN_NAME, '-']);
    });

    test('after logout the agent is asked anew, and everybody else keeps what they have', async () => {
      const [admin, alice] = [await userWith(ADMIN), await userWith({ sub: 'alice' })];
      await admin.look();
      await alice.look();
      const headers = { Authorization: `Bearer ${await tokenFor(ADMIN)}` };
      assert.equal((await ask(front.at('/logout'), { method: 'POST', headers })).status, 204);
      assert.ok((await alice.look()).isHit);
      const anew = await admin.look();
      assert.deepEqual([anew.secret, anew.isHit], [ADMIN_NAME, false]);
      assert.deepEqual(front.askers, [ADMIN_NAME, 'alice+acme+cards:read', ADMIN_NAME]);
    });

    test('after a revocation the token is refused, a newer one is asked for anew, and everybody else is served', async () => {
      const [admin, alice] = [await userWith(ADMIN), await userWith({ sub: 'alice' })];
      await admin.look();
      await alice.look();
      assert.equal((await front.revoke(`${ISSUER}#admin`)).status, 200);
      const got = await admin.look();
      assert.deepEqual([got.secret, got.status, got.code], [undefined, 401, 'token-revoked']);
      assert.ok((await alice.look()).isHit);
      await front.clock.advance(2_000);
      const anew = await (await userWith(ADMIN)).look();
      assert.deepEqual([anew.secret, anew.isHit], [ADMIN_NAME, false]);
      assert.deepEqual(front.askers, [ADMIN_NAME, 'alice+acme+cards:read', ADMIN_NAME]);
    });

    test('a newer token without the role ends what the older one held', async () => {
      const earlier = await userWith(ADMIN);
      await earlier.look();
      await front.clock.advance(1_000);
      await (await userWith({ ...ADMIN, roles: [] })).look();
      assert.deepEqual((await earlier.look()).isHit, false);
    });

    test('an admin whom somebody stops gets nothing, and everybody else is served', async () => {
      const [admin, alice] = [await userWith(ADMIN), await userWith({ sub: 'alice' })];
      await admin.look();
      await alice.look();
      const scope = parseScope(`principal:${ISSUER}#admin`);
      assert.ok(scope !== undefined);
      await front.daemon.killSwitch.engage({ scope, reason: 'left', by: 'admin' });
      const got = await admin.look();
      assert.deepEqual([got.secret, got.code], [undefined, 'killed']);
      assert.ok((await alice.look()).isHit);
    });

    test("the agent's own refusal ends what was held for that user", async () => {
      const admin = await userWith(ADMIN);
      await admin.look();
      agent.refused.add(ADMIN_NAME);
      await front.clock.advance(301_000);
      const got = await admin.look();
      assert.deepEqual([got.secret, got.status, got.code], [undefined, 401, 'extended-refused']);
      agent.refused.clear();
      assert.equal((await admin.look()).isHit, false);
    });

    test('no line of the log has a token', () => {
      assert.ok(front.log.length > 0);
      assert.doesNotMatch(front.log.join('\n'), /ey[A-Za-z0-9_-]{10,}\.ey/);
    });
  });
}

describe('the official SDK at both ends, with no issuer configured', () => {
  /** Two tokens of one user: nothing here can know that they are. */
  const USERS: ReadonlyMap<string, string> = new Map([
    ['opaque-1', 'alice'],
    ['opaque-2', 'alice'],
    ['opaque-3', 'bob'],
  ]);
  let agent: ExtendedAgent;
  let front: Front;

  before(async () => {
    agent = await startExtendedAgent((token) => USERS.get(token));
    front = new Front(agent);
  });
  beforeEach(() => front.start());
  after(async () => {
    await front.stop();
    await agent.stop();
  });

  for (const binding of BINDINGS) {
    test(`two opaque tokens never share, not even those of one user, over ${binding}`, async () => {
      for (const wanted of [false, true]) {
        for (const [token, name] of USERS) {
          const got = await (await front.user(binding, token)).look();
          assert.deepEqual([got.secret, got.isHit], [name, wanted]);
        }
      }
      assert.deepEqual(front.askers, [...USERS.values()]);
    });
    test(`a token that the agent does not know gets its refusal, over ${binding}`, async () => {
      await (await front.user(binding, 'opaque-1')).look();
      const got = await (await front.user(binding, 'opaque-4')).look();
      assert.deepEqual([got.secret, got.status, got.code], [undefined, 401, 'extended-refused']);
    });
  }

  test('what a client of one binding was shown answers the same user over the other', async () => {
    for (const [token, name] of USERS) {
      const [rpc, rest] = [await front.user('JSONRPC', token), await front.user('HTTP+JSON', token)];
      assert.deepEqual([(await rpc.look()).isHit, (await rest.look()).isHit], [false, true]);
      assert.equal((await rest.look()).secret, name);
    }
  });
});
