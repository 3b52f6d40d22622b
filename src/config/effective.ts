import { formatPlace, itemPath, memberPath, type Place } from './place.ts';
import { SCHEMA, type Settings } from './schema.ts';
import type { Node, SectionType, ShortType } from './table.ts';

/** One setting as it would be written, with where it came from; a secret is shown as the reference that it is written as. */
export type Shown =
  | { readonly kind: 'value'; readonly value: string | number | boolean | null; readonly path: string }
  | { readonly kind: 'list'; readonly items: readonly Shown[]; readonly path: string }
  | { readonly kind: 'members'; readonly members: readonly (readonly [string, Shown])[]; readonly path: string };

export type Sources = ReadonlyMap<string, Place>;

/** The effective settings as plain values, in the file's own spelling. */
export const effectiveValues = (settings: Settings): unknown => plain(show(SCHEMA, settings, ''));

/** Where each value came from, by path. */
export function effectiveSources(settings: Settings, sources: Sources): Readonly<Record<string, string>> {
  return Object.fromEntries([...leaves(show(SCHEMA, settings, ''))].map((path) => [path, sourceOf(path, sources)]));
}

export function show(node: Node, value: unknown, path: string): Shown {
  switch (node.kind) {
    case 'scalar':
      return { kind: 'value', value: node.show(value), path };
    case 'list': {
      if (node.word !== null && Array.isArray(value) && value.length === 0)
        return { kind: 'value', value: node.word, path };
      const items = Array.isArray(value)
        ? value.map((item, index) => show(node.item, item, itemPath(path, index)))
        : [];
      return { kind: 'list', items, path };
    }
    case 'named': {
      const entries: Iterable<readonly [unknown, unknown]> = value instanceof Map ? value : [];
      const members = [...entries].map(
        ([name, each]) => [String(name), show(node.value, each, memberPath(path, String(name)))] as const,
      );
      return { kind: 'members', members, path };
    }
    case 'section':
      return { kind: 'members', members: showRows(node, value, path), path };
    case 'short':
      return showShort(node, value, path);
    case 'choice':
      return show(typeof value === 'object' ? node.section : node.word, value, path);
  }
}

/** As it would be written: as the main member alone where nothing else is said. */
function showShort({ main, section }: ShortType, value: unknown, path: string): Shown {
  const members = showRows(section, value, path).map(
    ([key, shown]) => [key, key === main ? { ...shown, path } : shown] as const,
  );
  const [only, ...others] = members;
  return only?.[0] === main && others.length === 0 ? only[1] : { kind: 'members', members, path };
}

/** What is left out stays out: null is how the program says it, not how a file does. */
function showRows({ rows }: SectionType, value: unknown, path: string): readonly (readonly [string, Shown])[] {
  const written = new Map<string, unknown>(Object.entries(value ?? {}));
  return Object.entries(rows).flatMap(([key, { node }]) => {
    const member = written.get(key);
    return member === null || member === undefined ? [] : [[key, show(node, member, memberPath(path, key))] as const];
  });
}

function plain(shown: Shown): unknown {
  switch (shown.kind) {
    case 'value':
      return shown.value;
    case 'list':
      return shown.items.map(plain);
    case 'members':
      return Object.fromEntries(shown.members.map(([key, member]) => [key, plain(member)]));
  }
}

function* leaves(shown: Shown): Generator<string> {
  switch (shown.kind) {
    case 'value':
      yield shown.path;
      return;
    case 'list':
      if (shown.items.every((item) => item.kind === 'value')) yield shown.path;
      else for (const item of shown.items) yield* leaves(item);
      return;
    case 'members':
      for (const [, member] of shown.members) yield* leaves(member);
  }
}

export const sourceOf = (path: string, sources: Sources): string =>
  formatPlace(sources.get(path) ?? { from: 'default' });
