import { readSigningKey } from '../../src/card/sign.ts';
import { type ReceiptId, receiptId } from '../../src/kernel/ids.ts';
import type { Evidence } from '../../src/ports.ts';
import { openMemoryState } from '../../src/store/open-state.ts';
import { validConfig } from '../support/config.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { TAKES_ALL } from '../support/world.ts';
import { ISSUER, everybody } from './extended-people.ts';
import type { Setting } from './extended-readings.ts';
import { AGENTS } from './extended-steps.ts';

/** What all histories of extended cards have in common: two configurations, an issuer and its tokens. */

export const SETTINGS: readonly Setting[] = [
  {
    hosts: { ledger: 'ledger.test', books: 'books.test', vault: 'vault.test', inner: 'inner.test' },
    own: ['vault'],
    hidden: { inner: 'acme' },
  },
  {
    hosts: { ledger: 'ledger-two.test', books: 'books.test', vault: 'vault.test', inner: 'inner.test' },
    own: [],
    hidden: { inner: 'globex' },
  },
];

const configurationOf = ({ hosts, own, hidden }: Setting): string => `
state: memory
agents:
${AGENTS.map((name) => {
  const credentials = own.includes(name)
    ? 'credentials: { static: file:/run/own }'
    : 'credentials: forward, opaque: allow';
  const extended = `extended: { audience: ledger, replacePublic: ${name === 'books'}, ${credentials} }`;
  const visible = hidden[name] === undefined ? '' : `, visibleTo: [{ tenant: ${hidden[name]} }]`;
  return `  ${name}: { origin: "https://${hosts[name]}", review: ${TAKES_ALL}, ${extended}${visible} }`;
}).join('\n')}
origins: [{ match: "https://idp.test", content: none }]
principals: { issuers: [{ issuer: "${ISSUER}", audience: [cardea], jwks: "https://idp.test/jwks.json" }] }
cache: { prefetch: false }
`;

export const START = 1_800_000_000_000;

/** Receipts have tests of their own; here they would be a part of every step that nobody looks at. */
function withoutReceipts(ledger: Evidence): Evidence {
  let issued = 0;
  const issue = (): ReceiptId => receiptId(String((issued += 1)));
  return Object.assign(ledger, { issue, refused: issue, record: () => undefined, commit: async () => true });
}

/** What is the same in all histories, made once. */
export async function createStage() {
  const configs = await Promise.all(
    SETTINGS.map((setting) => validConfig(configurationOf(setting), { files: { '/run/own': 'own-secret' } })),
  );
  const observer = { record: () => undefined };
  const state = openMemoryState({ clock: new FakeClock(START), observer });
  const cardKey = await readSigningKey(state.cardKey);
  if (!cardKey.ok) throw new Error(cardKey.why);
  const crowd = await everybody(START);
  const ledger = withoutReceipts(state.ledger);
  return { ...crowd, rules: configs.map(({ rules }) => rules), observer, ledger, cardKey: cardKey.key };
}
export type Stage = Awaited<ReturnType<typeof createStage>>;
