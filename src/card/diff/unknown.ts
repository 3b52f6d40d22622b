import type { ChangeClass } from '../../kernel/change.ts';
import { isObject, own, pointerTo } from '../json.ts';
import { type CardChange, type Pair, changeOf } from './change.ts';
import { looksLikeSchema, schemaEffect } from './effect.ts';
import { textOf } from './meaning.ts';

/** Members that A2A does not know: objects are compared name by name, everything else as a whole and in its order. */
export function diffUnknown(pair: Pair, name: string, change: ChangeClass): readonly CardChange[] {
  return diffAny(pair, { name, change, isSchema: false });
}

interface Place {
  readonly name: string;
  readonly change: ChangeClass;
  /** True inside something like a JSON Schema. */
  readonly isSchema: boolean;
}

function diffAny(pair: Pair, place: Place): readonly CardChange[] {
  const { before, after } = pair;
  const { change, isSchema, name } = place;
  if (!isObject(before) || !isObject(after)) {
    if (textOf(before) === textOf(after)) return [];
    return [changeOf(pair, change, { effect: isSchema ? schemaEffect(name, before, after) : null })];
  }
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const inside = { ...place, isSchema: isSchema || (looksLikeSchema(before) && looksLikeSchema(after)) };
  return names.flatMap((member) => {
    const pairInside = {
      oldPointer: pointerTo(pair.oldPointer, member),
      pointer: pointerTo(pair.pointer, member),
      before: own(before, member),
      after: own(after, member),
    };
    // A property may have the name of a keyword.
    const effect = inside.isSchema && name === 'properties' ? propertyEffect(pairInside) : undefined;
    const found = diffAny(pairInside, { ...inside, name: member });
    return effect === undefined ? found : found.map((one) => ({ ...one, effect }));
  });
}

/** A property that came or went; undefined where it is in both. */
function propertyEffect({ before, after }: Pair): CardChange['effect'] | undefined {
  if ((before === undefined) === (after === undefined)) return undefined;
  return before === undefined ? 'widens' : 'narrows';
}
