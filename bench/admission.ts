/**
 * `npm run bench:admission`: what it takes to admit a card (parse, validate, verify ES256, normalise, digest) of 3 KB, 50 KB and nearly 1 MiB, in one
 * process, and beside it what JSON.parse alone takes of the same text.
 *
 *   npm run bench:admission -- [--rounds 7] [--record]
 */
import assert from 'node:assert/strict';
import { type AdmitContext, admitCard } from '../src/card/admit.ts';
import { parseKeySet } from '../src/card/keyset.ts';
import { urlId } from '../src/kernel/ids.ts';
import { epochMs } from '../src/kernel/units.ts';
import { exampleAgent } from '../test/support/rules.ts';
import { median, rounded } from './support/figures.ts';
import { readOptions } from './support/options.ts';
import { answer } from './support/results.ts';
import { type Signer, createSigner } from './support/signed.ts';

/** The largest card that is admitted by default has 1 MiB; the signature has to fit in too. */
const SIZES = { '3 KB': 3_072, '50 KB': 51_200, '1 MiB': 1_047_000 } as const;
/** Bytes that a round admits: many small cards, or a few large ones. */
const BYTES_A_ROUND = 2_000_000;

interface Admission {
  readonly bytes: number;
  /** Medians over the rounds, in milliseconds of CPU of the process. */
  readonly admit: number;
  readonly jsonParse: number;
}

const options = readOptions(process.argv.slice(2), { rounds: 7, requests: 1, nodes: ['24'] });
const signer = await createSigner();
const context = await contextOf(signer);
const figures: Record<string, Admission> = {};
for (const [name, size] of Object.entries(SIZES)) figures[name] = await measure(size);
answer('admission', { figures, versions: { Node: process.version } }, options);

async function contextOf({ jwks }: Signer): Promise<AdmitContext> {
  const { card } = exampleAgent('bench');
  const origin = { name: 'bench', revoked: [], fetchedAt: null };
  const reading = await parseKeySet(new TextEncoder().encode(jwks), origin);
  if (!reading.ok) throw new Error(reading.why);
  return {
    url: urlId('https://bench.example.com/.well-known/agent-card.json'),
    contentType: 'application/json',
    rule: { ...card, signature: 'require', keys: ['bench'] },
    keys: [reading.set],
    now: epochMs(Date.now()),
  };
}

async function measure(size: number): Promise<Admission> {
  const text = await signer.card('Bench', 'https://bench.example.com/rpc', size);
  const body = new TextEncoder().encode(text);
  const times = Math.max(2, Math.round(BYTES_A_ROUND / body.length));
  const turns: { readonly admit: number; readonly jsonParse: number }[] = [];
  for (let round = 0; round <= options.length.rounds; round += 1) {
    const admit = await cpuOf(times, async () => {
      const outcome = await admitCard(body, context);
      assert.equal(outcome.ok && outcome.value.verdict.signature, 'verified');
    });
    turns.push({ admit, jsonParse: await cpuOf(times, () => JSON.parse(text)) });
  }
  const counted = turns.slice(1); // the first one warms up
  return {
    bytes: body.length,
    admit: rounded(median(counted.map((turn) => turn.admit)), 3),
    jsonParse: rounded(median(counted.map((turn) => turn.jsonParse)), 3),
  };
}

/** The CPU that doing it once takes, in milliseconds, threads for cryptography too. */
async function cpuOf(times: number, run: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  for (let time = 0; time < times; time += 1) await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / times;
}
