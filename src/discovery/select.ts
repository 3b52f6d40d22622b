import { selectVariant } from '../http/vary.ts';
import type { Entry } from '../kernel/entry.ts';
import type { CardRequest } from './card-request.ts';

/** Picks the variant that a request selects. */
export type Select = (variants: readonly Entry[], request: CardRequest) => Entry | undefined;

/** What varies is selected once for each version, for as long as the store holds the same variants. */
export function createSelect(): Select {
  const known = new WeakMap<readonly Entry[], Map<CardRequest, Entry | undefined>>();
  return (variants, request) => {
    if (!isVaried(variants)) return selectVariant(variants, request.read);
    let selected = known.get(variants);
    if (selected === undefined) known.set(variants, (selected = new Map()));
    if (!selected.has(request)) selected.set(request, selectVariant(variants, request.read));
    return selected.get(request);
  };
}

const isVaried = (variants: readonly Entry[]): boolean => variants.length > 1 || (variants[0]?.vary.length ?? 0) > 0;
