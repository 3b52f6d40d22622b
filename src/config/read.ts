import type { Given, GivenMapping, GivenScalar } from './given.ts';
import { isNothing } from './given.ts';
import { itemPath, memberPath, type Place, type Problem, quote } from './place.ts';
import type { Fallback, ListType, NamedType, Node, Row, SectionType, ShortType } from './table.ts';
import type { ScalarType } from './types/scalar.ts';
import { unknownKey } from './unknown-key.ts';

/** What reading needs besides what was given. */
export interface Surroundings {
  /** The folder that a relative path is relative to, by where it was written. */
  folderOf(at: Place): string;
  readonly kubernetes: boolean;
  /** Flags and environment: values that go before the file's. */
  readonly overrides: ReadonlyMap<string, GivenScalar>;
}

/** What came of reading by the table; `value` is whole only where there are no problems. */
export interface ReadTable {
  readonly value: unknown;
  readonly problems: readonly Problem[];
  /** Where each setting that somebody has given came from, by path: scalars, lists and sections. */
  readonly sources: ReadonlyMap<string, Place>;
}

/** Reads everything given by one table; what is wrong becomes undefined and a problem, so that all problems are found at once. */
export function readTable(table: SectionType, given: Given | null, surroundings: Surroundings): ReadTable {
  const reader = new TableReader(table, surroundings);
  const value = reader.section(table, given, { path: '', at: given?.at ?? DEFAULT });
  return { value, problems: reader.problems, sources: reader.sources };
}

const DEFAULT: Place = { from: 'default' };

/** Where in the configuration the reader stands. */
interface Spot {
  readonly path: string;
  /** Where the setting is named, for what is missing below it. */
  readonly at: Place;
}

class TableReader {
  readonly problems: Problem[] = [];
  readonly sources = new Map<string, Place>();
  readonly #root: SectionType;
  readonly #surroundings: Surroundings;

  constructor(root: SectionType, surroundings: Surroundings) {
    this.#root = root;
    this.#surroundings = surroundings;
  }

  section({ rows }: SectionType, given: Given | null, { path, at }: Spot): unknown {
    const known = Object.keys(rows);
    const members = this.#members(given, path, `settings: ${known.join(', ')}`);
    if (members === null) return undefined;
    for (const [key, { keyAt }] of members) {
      if (!Object.hasOwn(rows, key)) this.#problem(keyAt, memberPath(path, key), unknownKey(key, known, this.#root));
    }
    const read = Object.entries(rows).map(([key, row]) => {
      const member = members.get(key);
      return [key, this.#row(row, member?.value ?? null, { path: memberPath(path, key), at: member?.keyAt ?? at })];
    });
    return Object.fromEntries(read);
  }

  #row(row: Row, given: Given | null, spot: Spot): unknown {
    const written = given !== null && (row.node.kind === 'scalar' || !isNothing(given)) ? given : null;
    // Its main member has the same name, so that what overrides it is found there.
    if (row.node.kind === 'short' && (written !== null || row.fallback !== null))
      return this.#short(row.node, written ?? this.#fallback(row.fallback ?? ''), spot);
    const below = written === null ? undefined : this.#node(row.node, written, spot);
    const override = this.#surroundings.overrides.get(spot.path);
    if (override !== undefined) return this.#node(row.node, override, { path: spot.path, at: override.at });
    if (written !== null) return below;
    if (row.optional) return this.#isGivenBelow(row.node, spot) ? this.#node(row.node, null, spot) : null;
    if (row.required) return this.#problem(spot.at, spot.path, `is missing. ${row.doc}`);
    return this.#default(row, spot);
  }

  #default({ node, fallback }: Row, spot: Spot): unknown {
    if (fallback !== null && node.kind === 'scalar') return this.#scalar(node, this.#fallback(fallback), spot);
    if (fallback !== null && node.kind === 'choice') return this.#scalar(node.word, this.#fallback(fallback), spot);
    return this.#node(node, null, spot);
  }

  /** A section that the file leaves out may still have members that a flag or a variable gives. */
  #isGivenBelow({ kind }: Node, { path }: Spot): boolean {
    return kind === 'section' && [...this.#surroundings.overrides.keys()].some((each) => each.startsWith(`${path}.`));
  }

  #fallback(fallback: Fallback): GivenScalar {
    const text = fallbackText(fallback, this.#surroundings.kubernetes);
    return { kind: 'scalar', text, plain: true, at: DEFAULT };
  }

  /** Written as one value it is its main member; that one has the place and the name of the whole in either form. */
  #short({ main, section }: ShortType, given: Given, spot: Spot): unknown {
    const { [main]: mainRow, ...beside } = section.rows;
    if (mainRow === undefined) throw new Error(`${spot.path} has no ${main}`);
    if (given.kind !== 'mapping') {
      const others = this.section({ kind: 'section', rows: beside }, null, spot);
      return { [main]: this.#row(mainRow, given, spot), ...Object(others) };
    }
    const members = new Map(given.members);
    const written = members.get(main);
    members.delete(main);
    const read = this.#row(mainRow, written?.value ?? null, { path: spot.path, at: written?.keyAt ?? spot.at });
    const others = this.section({ kind: 'section', rows: beside }, { ...given, members }, spot);
    return others === undefined ? undefined : { [main]: read, ...Object(others) };
  }

  #node(node: Node, given: Given | null, spot: Spot): unknown {
    if (given !== null && node.kind !== 'scalar') this.sources.set(spot.path, spot.at);
    if (given?.kind === 'broken') return undefined;
    switch (node.kind) {
      case 'scalar':
        return given === null ? undefined : this.#scalar(node, given, spot);
      case 'list':
        return this.#list(node, given, spot);
      case 'named':
        return this.#named(node, given, spot);
      case 'section':
        return this.section(node, given, spot);
      case 'short':
        return given === null ? undefined : this.#short(node, given, spot);
      case 'choice':
        return given?.kind === 'scalar'
          ? this.#scalar(node.word, given, spot)
          : this.section(node.section, given, spot);
    }
  }

  #scalar(type: ScalarType<unknown>, given: Given, { path }: Spot): unknown {
    if (given.at.from !== 'default') this.sources.set(path, given.at);
    if (given.kind !== 'scalar') return this.#problem(given.at, path, `is one value (${type.name}), not several`);
    if (isNothing(given)) {
      if (type.nothing !== undefined && given.text !== '') return type.nothing;
      return this.#problem(given.at, path, 'has no value; write one, or leave the key out');
    }
    const read = type.read(given.text, this.#surroundings.folderOf(given.at));
    if (!read.ok) return this.#problem(given.at, path, read.why);
    if (type.bare && !given.plain) return this.#problem(given.at, path, `is written without quotes: ${given.text}`);
    return read.value;
  }

  #list(node: ListType, given: Given | null, { path }: Spot): unknown {
    if (given === null) return [];
    if (given.kind === 'scalar' && given.text === node.word) return [];
    if (given.kind !== 'list') return this.#problem(given.at, path, noList(node, given));
    return given.items.map((item, index) => this.#node(node.item, item, { path: itemPath(path, index), at: item.at }));
  }

  #named(node: NamedType, given: Given | null, { path }: Spot): unknown {
    const members = this.#members(given, path, `a section for each ${node.key.name}`);
    if (members === null) return undefined;
    const values = [...members].map(([key, { keyAt, value }]) => {
      const here = memberPath(path, key);
      const name = node.key.read(key, '');
      if (!name.ok) this.#problem(keyAt, here, name.why);
      return [key, this.#node(node.value, value, { path: here, at: keyAt })] as const;
    });
    return new Map(values);
  }

  /** A section without a value is an empty one: `agents:` with every line below it commented out. */
  #members(given: Given | null, path: string, holds: string): GivenMapping['members'] | null {
    if (given === null || isNothing(given)) return new Map();
    if (given.kind === 'mapping') return given.members;
    if (given.kind === 'broken') return null;
    this.#problem(given.at, path, `${path === '' ? 'the file' : 'this'} holds ${holds}`);
    return null;
  }

  #problem(at: Place, path: string, message: string): undefined {
    this.problems.push({ at, path, message });
    return undefined;
  }
}

function noList({ word }: ListType, given: Given): string {
  const what = word === null ? 'is a list' : `is ${word} or a list`;
  return given.kind === 'scalar' ? `${what}; write [${listed(given)}]` : what;
}

/** What was written instead of a list; a secret is never in one. */
const listed = ({ text }: GivenScalar): string => quote(text).slice(1, -1);

/** The default as it is written, for this machine or for a Pod. */
export function fallbackText(fallback: Fallback, kubernetes: boolean): string {
  if (typeof fallback === 'string') return fallback;
  return kubernetes ? fallback.kubernetes : fallback.usual;
}
