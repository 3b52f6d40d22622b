import type { FormComparison } from '../card/explain.ts';
import { compareForms } from '../card/explain.ts';
import { canonicalForms } from '../card/canonical.ts';
import { coverageOf } from '../card/coverage.ts';
import { digestCard } from '../card/digest.ts';
import type { JsonArray } from '../card/json.ts';
import { isArray, own } from '../card/json.ts';
import type { KeySet } from '../card/keys.ts';
import { parseKeySet } from '../card/keyset.ts';
import type { Match, Miss } from '../card/signatures.ts';
import { verifySignatures } from '../card/signatures.ts';
import { epochMs } from '../kernel/units.ts';
import { JSON_FLAG, parseArgs } from './args.ts';
import type { CardFile } from './card-file.ts';
import { readCardFile, readFile } from './card-file.ts';
import type { Command, Io } from './command.ts';
import { usageProblems } from './help.ts';

const FLAGS = {
  keys: { takes: 'JWKS', doc: 'The keys that may have signed it: a JWK Set, one JWK, or {kid: PEM}.' },
  json: JSON_FLAG,
} as const;

/** `cardea verify`: who signed a card, over which form, and what the signature does not cover. */
export const verifyCommand: Command = {
  name: 'verify',
  operands: 'CARD',
  summary: 'Says whether a trusted signature holds over a card, and over what',
  help: `Every signature is tried over every form that A2A signers use, from the one that covers most to the one that
covers least. For each form it prints whether the signature holds, or from which byte on the payload differs.
Members that the signature does not cover are listed: the daemon does not serve them as verified.

  cardea verify agent-card.json --keys jwks.json`,
  flags: FLAGS,
  settings: false,
  exits: '0 a trusted signature holds · 1 none does · 2 called wrongly',
  run: runVerify,
};

/** The name that the given keys go by; it never leaves this command. */
const GIVEN = 'given';

async function runVerify(io: Io): Promise<number> {
  const args = parseArgs(io.argv, { flags: FLAGS, settings: false, operands: { least: 1, most: 1 } });
  if (!args.ok) return usageProblems(verifyCommand, args.problems, io);
  if (args.flags.keys === null) return usageProblems(verifyCommand, ['--keys is missing'], io);
  const read = await readCardFile(args.operands[0] ?? '', io);
  if (!read.ok) return fail(read.problem, read.exit, io);
  const keys = await readKeys(args.flags.keys, io);
  if (typeof keys === 'string') return fail(keys, 2, io);
  const report = await verifyFile(read.file, keys);
  io.stdout.write(args.flags.json ? `${JSON.stringify(report, null, 2)}\n` : describe(report));
  return report.verified ? 0 : 1;
}

function fail(problem: string, exit: number, io: Io): number {
  io.stderr.write(`${problem}\n`);
  return exit;
}

async function readKeys(path: string, io: Io): Promise<KeySet | string> {
  const document = await readFile(path, io);
  if (typeof document === 'string') return document;
  const reading = await parseKeySet(document, { name: GIVEN, revoked: [], fetchedAt: null });
  if (!reading.ok) return `${path}: ${reading.why}`;
  for (const warning of reading.warnings) io.stderr.write(`${path}: ${warning}\n`);
  return reading.set;
}

interface VerifyReport {
  readonly verified: boolean;
  readonly version: string;
  readonly digest: string;
  readonly signatures: readonly SignatureLine[];
  /** JSON Pointers of what no signature that holds covers; empty where the card may be served as it is. */
  readonly uncovered: readonly string[];
  /** How the daemon would serve it under its default rule. */
  readonly coverage: 'whole' | 'partial' | 'lacking' | 'none';
  readonly forms: readonly FormComparison[];
}

type SignatureLine =
  | { readonly index: number; readonly holds: true; readonly kid: string; readonly alg: string; readonly form: string }
  | { readonly index: number; readonly holds: false; readonly why: Miss['why'] | 'unsigned'; readonly detail: string };

async function verifyFile({ card, version }: CardFile, keys: KeySet): Promise<VerifyReport> {
  const signatures = own(card, 'signatures');
  const list: JsonArray = isArray(signatures) ? signatures : [];
  const context = { rule: { keys: [GIVEN], jku: [] }, keys: [keys], now: epochMs(Date.now()) };
  const { matches, misses } = await verifySignatures(list, canonicalForms(card, version), context);
  const [best] = matches.toSorted((one, other) => one.canonical.left.length - other.canonical.left.length);
  const coverage = best === undefined ? undefined : coverageOf(card, best.canonical.left);
  return {
    verified: best !== undefined,
    version,
    digest: digestCard(card),
    signatures: [...matches.map(matchLine), ...misses.map(missLine)].toSorted((one, other) => one.index - other.index),
    uncovered: uncoveredOf(coverage),
    coverage: coverage?.is ?? 'none',
    forms: compareForms(card, best?.canonical),
  };
}

function uncoveredOf(coverage: ReturnType<typeof coverageOf> | undefined): readonly string[] {
  switch (coverage?.is) {
    case 'partial':
      return coverage.dropped;
    case 'lacking':
      return coverage.missing;
    case 'whole':
    case undefined:
      return [];
  }
}

const matchLine = ({ index, kid, alg, canonical }: Match): SignatureLine => ({
  index,
  holds: true,
  kid,
  alg,
  form: canonical.form,
});
const missLine = ({ index, why, detail }: Miss): SignatureLine => ({ index, holds: false, why, detail });

function describe(report: VerifyReport): string {
  const lines = [`card A2A ${report.version}, ${report.digest}`, ...report.signatures.map(describeSignature)];
  if (report.signatures.length === 0) lines.push('the card has no signatures');
  if (report.verified) lines.push('', 'forms:', ...report.forms.map(describeForm), '', describeCoverage(report));
  else
    lines.push('', 'payloads tried:', ...report.forms.map((form) => `  ${form.form.padEnd(15)} ${form.bytes} bytes`));
  return `${lines.join('\n')}\n`;
}

const describeSignature = (line: SignatureLine): string =>
  line.holds
    ? `signature ${line.index}: verified; kid ${JSON.stringify(line.kid)}, ${line.alg}, form ${line.form}`
    : `signature ${line.index}: ${line.why}; ${line.detail}`;

function describeForm({ form, holds, differs }: FormComparison): string {
  if (holds) return `  ${form.padEnd(15)} holds`;
  const where =
    differs === undefined
      ? ''
      : ` at byte ${differs.at}: ${JSON.stringify(differs.here)}; signed is ${JSON.stringify(differs.signed)}`;
  return `  ${form.padEnd(15)} differs${where}`;
}

function describeCoverage({ coverage, uncovered }: VerifyReport): string {
  switch (coverage) {
    case 'whole':
      return 'the signature covers all that the card says';
    case 'partial':
      return `not covered, and not served as verified: ${uncovered.join(', ')}`;
    case 'lacking':
      return `not covered, and needed; the daemon serves the card as unverified (why=uncovered): ${uncovered.join(', ')}`;
    case 'none':
      return 'no signature holds';
  }
}
