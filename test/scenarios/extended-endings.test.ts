import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { tag } from '../../src/kernel/ids.ts';
import { type AskedOf, ExtendedWorld, type Replies, isHit, reply, statusOf } from '../support/extended-world.ts';
import { type TestIssuer, createIssuer } from '../support/issuer.ts';
import { type Got, ask } from '../support/world.ts';

/** Everything that ends a session: what is held for the caller goes at once, and what is on its way does not come back. */

const ISSUER = 'https://idp.test';
const ALICE = `${ISSUER}#alice`;
const LOCAL = 'unsafeCleartext: true, unsafeAddresses: [127.0.0.1/32]';

type Claims = Readonly<Record<string, unknown>>;

class Stage {
  readonly agent: ExtendedWorld;
  readonly idp: TestIssuer;
  /** The status that the agent answers from now on; 200 with a card. */
  says = 200;
  #hold: { readonly arrive: () => void; readonly goOn: Promise<void> } | undefined;

  private constructor(agent: ExtendedWorld, idp: TestIssuer) {
    this.agent = agent;
    this.idp = idp;
  }

  static async start(): Promise<Stage> {
    const replies: Replies = (asked, response) => void stage.answer(asked, response);
    const agent = await ExtendedWorld.start({
      replies,
      agent: 'extended: { audience: ledger }',
      config: `origins: [{ match: "$ORIGIN", content: none, ${LOCAL} }]
principals: { issuers: [{ issuer: "${ISSUER}", audience: [cardea], jwks: "$ORIGIN/jwks.json" }] }
limits: { response: 2m }
cache: { prefetch: false, negativeTtl: 1s }`,
    });
    const stage: Stage = new Stage(agent, await createIssuer(ISSUER, () => agent.world.clock.now()));
    return stage;
  }

  async answer(asked: AskedOf, response: Parameters<Replies>[1]): Promise<void> {
    if (asked.target === '/jwks.json') return reply(response, 200, {}, JSON.stringify(this.idp.jwks));
    const held = this.#hold;
    const status = this.says;
    this.#hold = undefined;
    held?.arrive();
    await held?.goOn;
    if (status !== 200) return statusOf(status, { 'WWW-Authenticate': 'Bearer' })(asked, response);
    this.agent.gives(this.agent.card, { 'Cache-Control': 'max-age=36000' })(asked, response);
  }

  /** Holds the next request; resolves when it has arrived, with what lets it go on. */
  hold(): Promise<() => void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    return new Promise((arrived) => {
      this.#hold = { arrive: () => arrived(resolve), goOn: promise };
    });
  }

  token(claims: Claims = {}): Promise<string> {
    return this.idp.token({ aud: ['ledger'], ...claims });
  }

  /** Asks as a caller with this token; what asks for another extension has another entry. */
  get(token: string, extension = ''): Promise<Got> {
    return this.agent.ask({ token, headers: extension === '' ? {} : { 'A2A-Extensions': extension } });
  }

  admin(path: string, order: object): Promise<Got> {
    const { started, token } = this.agent.world.daemon;
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    return ask(`http://${started.admin[0]}${path}`, { method: 'POST', headers }, JSON.stringify(order));
  }

  /** For how many callers cards are held, and how many cards. */
  counts(): Promise<readonly number[]> {
    const metrics = [/^cardea_principals_active /, /^cardea_cache_entries\{kind="extended"\} /];
    return Promise.all(metrics.map(async (each) => Number((await this.agent.world.metric(each))?.split(' ').at(-1))));
  }

  later(seconds: number): Promise<void> {
    return this.agent.world.clock.advance(seconds * 1_000);
  }
}

interface Ending {
  readonly name: string;
  /** Makes it happen, after Alice got what she has with this token. */
  readonly end: (stage: Stage, token: string) => Promise<unknown>;
  /** What Alice's request is told that was on its way. */
  readonly late: readonly [status: number, code: string];
  /** Whether her first token is good for another request. */
  readonly tokenStays: boolean;
  /** Whether Ben, of her tenant, loses what he has too. */
  readonly endsBen?: boolean;
}

const CONFLICT = [409, 'conflict'] as const;
const purge = (stage: Stage, name: string) => stage.admin('/purge', { tags: [name], soft: false, reason: 'a test' });
const refusedBy = async (stage: Stage, token: string, status: 401 | 403): Promise<void> => {
  stage.says = status;
  const got = await stage.get(token, 'https://ext.test/refused');
  stage.says = 200;
  assert.deepEqual([got.status, got.code], [status, 'extended-refused']);
};

const ENDINGS: readonly Ending[] = [
  {
    name: 'POST /logout',
    end: ({ agent }, token) => agent.world.post('/logout', '', { Authorization: `Bearer ${token}` }),
    late: CONFLICT,
    tokenStays: true,
  },
  {
    name: 'a purge of the principal',
    end: (stage) => purge(stage, `principal:${ALICE}`),
    late: CONFLICT,
    tokenStays: true,
  },
  {
    name: 'a purge of the tenant',
    end: (stage) => purge(stage, 'tenant:acme'),
    late: CONFLICT,
    tokenStays: true,
    endsBen: true,
  },
  {
    name: 'a revocation of the principal',
    end: (stage) => stage.admin('/principals/revoke', { principal: ALICE, reason: 'a test' }),
    late: [401, 'token-revoked'],
    tokenStays: false,
  },
  {
    name: 'a revocation of the tenant',
    end: (stage) => stage.admin('/principals/revoke', { tenant: 'acme', reason: 'a test' }),
    late: [401, 'token-revoked'],
    tokenStays: false,
    endsBen: true,
  },
  { name: "the agent's 401", end: (stage, token) => refusedBy(stage, token, 401), late: CONFLICT, tokenStays: true },
  { name: "the agent's 403", end: (stage, token) => refusedBy(stage, token, 403), late: CONFLICT, tokenStays: true },
  {
    name: 'fewer roles in the next token',
    end: async (stage) => {
      await stage.later(1);
      await stage.get(await stage.token({ roles: [] }));
    },
    late: CONFLICT,
    tokenStays: true,
  },
  {
    name: 'another scope in the next token',
    end: async (stage) => {
      await stage.later(1);
      await stage.get(await stage.token({ roles: ['admin'], scope: 'cards:write' }));
    },
    late: CONFLICT,
    tokenStays: true,
  },
  {
    name: "the end of the issuer's key",
    end: async (stage) => {
      await stage.later(31);
      await stage.idp.rotate();
      stage.idp.withdraw();
      await stage.get(await stage.token({ sub: 'new', tenant: 'other' }));
    },
    late: CONFLICT,
    tokenStays: false,
    endsBen: true,
  },
  {
    name: 'a kill of the principal',
    end: ({ agent }) =>
      agent.world.daemon.killSwitch.engage({ scope: tag(`principal:${ALICE}`), reason: 'a test', by: 'admin' }),
    late: [503, 'killed'],
    tokenStays: false,
  },
];

describe('what ends a session', () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await Stage.start();
  });
  afterEach(() => stage.agent.stop());

  for (const { name, end, late, tokenStays, endsBen = false } of ENDINGS) {
    test(`${name} drops all that is held for the caller, and nothing of others`, async () => {
      const [alice, ben, eve] = await Promise.all([
        stage.token({ roles: ['admin'] }),
        stage.token({ sub: 'ben' }),
        stage.token({ sub: 'eve', tenant: 'globex' }),
      ]);
      const second = 'https://ext.test/second';
      for (const token of [alice, ben, eve]) assert.equal((await stage.get(token)).status, 200);
      await stage.get(alice, second);
      // So often that the answers stand: they end with what they were made from.
      for (let times = 0; times < 4; times += 1) {
        for (const token of [alice, ben, eve]) assert.ok(isHit(await stage.get(token)));
        assert.ok(isHit(await stage.get(alice, second)));
      }
      assert.deepEqual(await stage.counts(), [3, 4]);
      await end(stage, alice);
      for (const extension of ['', second]) {
        const got = await stage.get(alice, extension);
        assert.deepEqual([got.status === 200, isHit(got)], [tokenStays, false], got.body);
      }
      assert.equal(isHit(await stage.get(ben)), !endsBen);
      assert.equal(isHit(await stage.get(eve)), name !== "the end of the issuer's key");
    });
    test(`${name} lets nothing come back that was on its way`, async () => {
      const token = await stage.token({ roles: ['admin'] });
      await stage.get(token);
      const third = 'https://ext.test/third';
      const arrived = stage.hold();
      const waiting = stage.get(token, third);
      const goOn = await arrived;
      await end(stage, token);
      goOn();
      const got = await waiting;
      assert.deepEqual([got.status, got.code], late);
      if (!tokenStays) return;
      assert.ok(!isHit(await stage.get(token, third)));
    });
  }
});

describe('the end of the token', () => {
  let stage: Stage;
  before(async () => {
    stage = await Stage.start();
  });
  after(() => stage.agent.stop());
  const seconds = (): number => Math.floor(stage.agent.world.clock.now() / 1_000);

  test('ends what was obtained with it, and what arrives after it answers whoever waits and is kept for nobody', async () => {
    const token = await stage.token({ sub: 'short', exp: seconds() + 10 });
    await stage.get(token);
    for (let times = 0; times < 4; times += 1) assert.ok(isHit(await stage.get(token)));
    const arrived = stage.hold();
    const waiting = stage.get(token, 'https://ext.test/late');
    const goOn = await arrived;
    await stage.later(10);
    goOn();
    assert.equal((await waiting).status, 200);
    for (const extension of ['', 'https://ext.test/late']) assert.ok(!isHit(await stage.get(token, extension)));
    await stage.later(31);
    assert.equal((await stage.get(token)).code, 'token-expired');
  });
});
