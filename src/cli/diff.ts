import type { CardChange } from '../card/diff/change.ts';
import { diffCards } from '../card/diff/diff.ts';
import { digestCard } from '../card/digest.ts';
import { normaliseCard } from '../card/normalise.ts';
import { JSON_FLAG, parseArgs } from './args.ts';
import { type CardFile, readCardFile } from './card-file.ts';
import { changeView } from './change-view.ts';
import type { Command, Io } from './command.ts';
import { usageProblems } from './help.ts';

const FLAGS = { json: JSON_FLAG } as const;

/** `cardea diff`: what one card says otherwise than another. */
export const diffCommand: Command = {
  name: 'diff',
  operands: 'A B',
  summary: 'Says what card B says otherwise than card A, class by class',
  help: `Both are read as a 1.0 client would, so that a card written for another version of A2A is no change by itself.
Skills are matched by id and extensions by URI; their order says nothing, that of interfaces does. The classes are
those that an agent's \`review\` names. Signatures are not compared: "cardea verify" does that with keys.

  cardea diff published.json agent-card.json`,
  flags: FLAGS,
  settings: false,
  exits: '0 the same · 1 they differ, or one is no card · 2 called wrongly',
  run: runDiff,
};

async function runDiff(io: Io): Promise<number> {
  const args = parseArgs(io.argv, { flags: FLAGS, settings: false, operands: { least: 2, most: 2 } });
  if (!args.ok) return usageProblems(diffCommand, args.problems, io);
  const [one, other] = args.operands;
  const [before, after] = [await readCardFile(one ?? '', io), await readCardFile(other ?? '', io)];
  for (const reading of [before, after]) if (!reading.ok) io.stderr.write(`${reading.problem}\n`);
  if (!before.ok || !after.ok) return Math.max(...[before, after].map((reading) => (reading.ok ? 0 : reading.exit)));
  const changes = diffCards(viewOf(before.file), viewOf(after.file));
  const [from, to] = [digestCard(before.file.card), digestCard(after.file.card)];
  io.stdout.write(
    args.flags.json ? `${JSON.stringify({ from, to, changes }, null, 2)}\n` : describe(changes, from === to, io),
  );
  return changes.length === 0 ? 0 : 1;
}

const viewOf = ({ card, version }: CardFile) => normaliseCard(card, version).card;

function describe(changes: readonly CardChange[], isSame: boolean, io: Io): string {
  if (changes.length > 0)
    return changeView(
      changes.map((change) => ({ ...change })),
      io,
    );
  return isSame ? 'the same card\n' : 'they say the same in other words; their digests differ\n';
}
