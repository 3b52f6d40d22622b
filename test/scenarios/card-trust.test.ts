import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import type { JWK } from 'jose';
import { pair, type Pair, signature } from '../card/signer.ts';
import { card10 } from '../card/support.ts';
import type { Behave } from '../support/origin-server.ts';
import { answers, type Got, World, type WorldOptions } from '../support/world.ts';

const [one, two, stranger] = [await pair('one'), await pair('two'), await pair('one')];
const CARD = card10({
  supportedInterfaces: [{ url: 'http://127.0.0.1/rpc', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
});

const unsigned = JSON.stringify(CARD);
const by = async (...keys: readonly Pair[]): Promise<string> =>
  JSON.stringify({ ...CARD, signatures: await Promise.all(keys.map((key) => signature(CARD, key))) });

/** An origin that serves a card and a key set; each can be changed. */
class Agent {
  card: string = unsigned;
  keys: readonly JWK[] = [one.publicJwk];
  /** Null while the keys are served. */
  keysFail: number | null = null;
  maxAge = 60;
  keysMaxAge = 300;
  jwksAsked = 0;

  readonly behave: Behave = (request, response) => {
    if (request.url !== '/jwks.json')
      return answers(this.card, { 'Cache-Control': `max-age=${this.maxAge}` })(request, response);
    this.jwksAsked += 1;
    if (this.keysFail !== null) return void response.writeHead(this.keysFail).end();
    answers(JSON.stringify({ keys: this.keys }), { 'Cache-Control': `max-age=${this.keysMaxAge}` })(request, response);
  };
}

let world: World | undefined;
afterEach(async () => {
  await world?.stop();
  world = undefined;
});

async function start(agent: Agent, rule: string, more: WorldOptions = {}): Promise<World> {
  const keys = rule.includes('keys:') ? 'keys: { own: { jwks: "$ORIGIN/jwks.json" } }' : '';
  const config = `${keys}\n${more.config ?? ''}`;
  world = await World.start({ origin: agent.behave, agent: rule, ...more, config });
  return world;
}

/** The verdict as a caller sees it: `Card-Status` without review and receipt, or the problem's code. */
const verdict = (got: Got): string =>
  got.code ??
  String(got.headers['card-status'])
    .split('; ')
    .filter((each) => !/^(?:review|receipt)=/.test(each))
    .join('; ');

const OWN = 'keys: [own]';
const VERIFIED = 'verified; kid="one"; alg="ES256"; keys="own"; form="a2a-1.0"';

describe('what a rule makes of a card', () => {
  const forged = async (): Promise<string> => (await by(one)).replace('Tells the weather', 'Sells the weather');
  const cases: readonly (readonly [name: string, rule: string, card: () => Promise<string>, expected: string])[] = [
    ['require, signed', `${OWN}, signature: require`, () => by(one), VERIFIED],
    ['require, unsigned', `${OWN}, signature: require`, async () => unsigned, 'signature-required'],
    ['require, tampered with', `${OWN}, signature: require`, forged, 'signature-invalid'],
    [
      "require, a stranger's key of the same name",
      `${OWN}, signature: require`,
      () => by(stranger),
      'signature-invalid',
    ],
    ['require, a key that is not in the set', `${OWN}, signature: require`, () => by(two), 'signature-untrusted'],
    ['if-present, signed', OWN, () => by(one), VERIFIED],
    ['if-present, unsigned', OWN, async () => unsigned, 'unsigned'],
    ['if-present, tampered with', OWN, forged, 'signature-invalid'],
    ['if-present, no keys', 'signature: if-present', () => by(one), 'unverified; why=no-keys'],
    ['off, tampered with', `${OWN}, signature: off`, forged, 'off'],
    ['two of two', `${OWN}, signatures: 2`, () => by(one, two), 'signature-untrusted'],
  ];
  for (const [name, rule, card, expected] of cases) {
    test(name, async () => {
      const agent = new Agent();
      agent.card = await card();
      await start(agent, rule);
      assert.equal(verdict(await (world as World).card()), expected);
    });
  }
});
