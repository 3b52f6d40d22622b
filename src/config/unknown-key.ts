import { nearest } from './nearest.ts';
import { memberPath } from './place.ts';
import type { Node, SectionType } from './table.ts';

/** Says what may have been meant by a key that is not in the table: the nearest one beside it, else the same one elsewhere. */
export function unknownKey(key: string, beside: readonly string[], root: SectionType): string {
  const near = nearest(key, beside);
  if (near !== null) return `unknown key; did you mean ${near}?`;
  const same = [...allPaths(root, '')].filter((path) => path.endsWith(`.${key}`) || path === key);
  // The one that holds for everything says more than the one of a single agent.
  const elsewhere = same.find((path) => !/[*[]/.test(path)) ?? same[0];
  if (elsewhere !== undefined) return `unknown key here; it belongs at ${elsewhere}`;
  return `unknown key; known here: ${beside.join(', ')}`;
}

/** Every path of the table, `*` for a name of the user's own and `[]` for an element. */
function* allPaths(node: Node, path: string): Generator<string> {
  if (path !== '') yield path;
  switch (node.kind) {
    case 'section':
      for (const [key, row] of Object.entries(node.rows)) yield* allPaths(row.node, memberPath(path, key));
      return;
    case 'named':
      yield* allPaths(node.value, `${path}.*`);
      return;
    case 'list':
      yield* allPaths(node.item, `${path}[]`);
      return;
    case 'short':
    case 'choice':
      yield* allPaths(node.section, path);
      return;
    case 'scalar':
  }
}
