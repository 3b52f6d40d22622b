import type { JsonObject } from '../card/json.ts';
import { isArray, isObject, own } from '../card/json.ts';
import { scanJson } from '../card/scan.ts';
import type { SigningKey } from '../card/sign.ts';
import { readSigningKey, signCard } from '../card/sign.ts';
import { parseArgs } from './args.ts';
import { readCardFile, readFile } from './card-file.ts';
import type { Command, Io } from './command.ts';
import { usageProblems } from './help.ts';

const FLAGS = {
  key: { takes: 'JWK', doc: 'A private JWK, or a JWK Set: then every key in it signs.' },
  jku: { takes: 'URL', doc: 'Where verifiers find the public keys; stands in the signed header.' },
  json: { takes: null, doc: 'One line instead of indented JSON.' },
} as const;

/** `cardea sign`: adds signatures in the specification's form and prints the card. */
export const signCommand: Command = {
  name: 'sign',
  operands: 'CARD',
  summary: "Signs a card in the specification's form and prints it",
  help: `The card on standard output is the one that was read, with one signature more per key. Signatures that it has
are kept. The algorithm is the key's "alg", else what its type is for.

  cardea sign agent-card.json --key private.jwk --jku https://example.com/jwks.json > signed.json`,
  flags: FLAGS,
  settings: false,
  exits: '0 signed · 1 the card is none · 2 called wrongly',
  run: runSign,
};

async function runSign(io: Io): Promise<number> {
  const args = parseArgs(io.argv, { flags: FLAGS, settings: false, operands: { least: 1, most: 1 } });
  if (!args.ok) return usageProblems(signCommand, args.problems, io);
  const { key, jku, json } = args.flags;
  if (key === null) return usageProblems(signCommand, ['--key is missing'], io);
  if (jku !== null && !URL.canParse(jku)) return usageProblems(signCommand, ['--jku is no URL'], io);
  const read = await readCardFile(args.operands[0] ?? '', io);
  if (!read.ok) return fail(read.problem, read.exit, io);
  const keys = await readSigningKeys(key, io);
  if (typeof keys === 'string') return fail(keys, 2, io);
  const signed = await signCard(read.file.card, read.file.version, keys, jku ?? undefined);
  io.stdout.write(`${json ? JSON.stringify(signed) : JSON.stringify(signed, null, 2)}\n`);
  return 0;
}

function fail(problem: string, exit: number, io: Io): number {
  io.stderr.write(`${problem}\n`);
  return exit;
}

/** A set of private keys nests three levels deep. */
const DEPTH = 8;

async function readSigningKeys(path: string, io: Io): Promise<readonly SigningKey[] | string> {
  const document = await readFile(path, io);
  if (typeof document === 'string') return document;
  const scan = scanJson(new TextDecoder().decode(document), DEPTH);
  if (!scan.ok) return `${path}: line ${scan.fault.line}, column ${scan.fault.column}: ${scan.fault.what}`;
  const jwks = isObject(scan.value) ? jwksOf(scan.value) : [];
  if (jwks.length === 0) return `${path}: it is no JWK and no JWK Set`;
  const keys: SigningKey[] = [];
  for (const [index, jwk] of jwks.entries()) {
    const reading = await readSigningKey(jwk);
    if (!reading.ok) return `${path}: key ${index}: ${reading.why}`;
    keys.push(reading.key);
  }
  return keys;
}

function jwksOf(document: JsonObject): readonly JsonObject[] {
  const keys = own(document, 'keys');
  return isArray(keys) ? keys.filter(isObject) : [document];
}
