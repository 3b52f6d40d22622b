import { build } from './cardea.ts';
import { isThere } from './machine.ts';
import { type NodeName, versionsOf } from './nodes.ts';
import { type Options, readOptions } from './options.ts';
import { answer } from './results.ts';
import { type Scratch, withScratch } from './scratch.ts';

/** Measures one thing on one Node. */
type Measure<Figures> = (node: NodeName, scratch: Scratch, options: Options) => Promise<Figures>;

/**
 * Answers a question about Cardea under load, on each Node that the command line names.
 * @param measures by the name of its row; `''` where there is but one for each Node.
 */
export async function answerByNode<Figures>(
  question: string,
  usual: Parameters<typeof readOptions>[1],
  measures: Readonly<Record<string, Measure<Figures>>>,
): Promise<void> {
  const options = readOptions(process.argv.slice(2), usual);
  if (!isThere('h2load', 'nghttp2-client')) process.exit(1);
  build();
  const figures: Record<string, Figures> = {};
  for (const node of options.nodes)
    for (const [name, measure] of Object.entries(measures))
      figures[name === '' ? `Node ${node}` : `${name}, Node ${node}`] = await withScratch((scratch) =>
        measure(node, scratch, options),
      );
  answer(question, { figures, versions: versionsOf(options.nodes) }, options);
}
