import type { ScalarType } from './types/scalar.ts';

/** Several values of one kind. */
export interface ListType<Item extends Node = Node> {
  readonly kind: 'list';
  readonly item: Item;
  /** What may stand instead of an empty list: `dns: system`. */
  readonly word: string | null;
}

/** Sections under names that the user chooses. */
export interface NamedType<Key extends string = string, Value extends Node = Node> {
  readonly kind: 'named';
  readonly key: ScalarType<Key>;
  readonly value: Value;
}

/** A fixed set of settings. */
export interface SectionType<Rows extends TableRows = TableRows> {
  readonly kind: 'section';
  readonly rows: Rows;
}

/** A section that may be written as its main member alone, which goes by the section's own name: `agents: 127.0.0.1:8642`. */
export interface ShortType<Main extends string = string, Section extends SectionType = SectionType> {
  readonly kind: 'short';
  readonly main: Main;
  readonly section: Section;
}

/** One word, or a section in its place. */
export interface ChoiceType<Word = unknown, Rows extends TableRows = TableRows> {
  readonly kind: 'choice';
  readonly word: ScalarType<Word>;
  readonly section: SectionType<Rows>;
}

// `never` and `unknown` would each forbid one side of a type that both reads and writes its value.
export type Node = ScalarType<unknown> | ListType | NamedType | SectionType | ShortType | ChoiceType;

/** What holds where nothing is written, in the file's own spelling; in Kubernetes it may be another. */
export type Fallback = string | { readonly usual: string; readonly kubernetes: string };

/** One row of the table: everything that is known of one setting. */
export interface Row<N extends Node = Node, Optional extends boolean = boolean> {
  readonly node: N;
  readonly optional: Optional;
  /** Null where there is none: for what is required, optional, or made of settings with defaults of their own. */
  readonly fallback: Fallback | null;
  readonly required: boolean;
  /** One line of documentation. */
  readonly doc: string;
}

export type TableRows = { readonly [key: string]: Row };

/** A value with a default. */
export const setting = <N extends ScalarType<unknown> | ShortType>(
  node: N,
  fallback: Fallback,
  doc: string,
): Row<N, false> => ({
  node,
  optional: false,
  required: false,
  fallback,
  doc,
});

/** What may be left out; then it is null. */
export const optional = <N extends Node>(node: N, doc: string): Row<N, true> => ({
  node,
  optional: true,
  required: false,
  fallback: null,
  doc,
});

/** What must be written. */
export const required = <N extends Node>(node: N, doc: string): Row<N, false> => ({
  node,
  optional: false,
  required: true,
  fallback: null,
  doc,
});

/** A list, section or map that is empty where nothing is written. */
export const group = <N extends ListType | NamedType | SectionType>(node: N, doc: string): Row<N, false> => ({
  node,
  optional: false,
  required: false,
  fallback: null,
  doc,
});

/** A word with a default, or a section. */
export const choice = <T, R extends TableRows>(
  word: ScalarType<T>,
  rows: SectionType<R>,
  fallback: string,
  doc: string,
): Row<ChoiceType<T, R>, false> => ({
  node: { kind: 'choice', word, section: rows },
  optional: false,
  required: false,
  fallback,
  doc,
});

export const list = <N extends Node>(item: N, word: string | null = null): ListType<N> => ({
  kind: 'list',
  item,
  word,
});
export const section = <R extends TableRows>(rows: R): SectionType<R> => ({ kind: 'section', rows });
export const short = <M extends string, R extends TableRows & Readonly<Record<M, Row<ScalarType<unknown>>>>>(
  main: M,
  rows: R,
): ShortType<M, SectionType<R>> => ({ kind: 'short', main, section: section(rows) });
export const named = <K extends string, N extends Node>(key: ScalarType<K>, value: N): NamedType<K, N> => ({
  kind: 'named',
  key,
  value,
});

/** The type of the value that a node of the table reads. */
export type Infer<N> =
  N extends ScalarType<infer T>
    ? T
    : N extends ChoiceType<infer Word, infer Rows>
      ? Word | Infer<SectionType<Rows>>
      : N extends ListType<infer Item>
        ? readonly Infer<Item>[]
        : N extends NamedType<infer Key, infer Value>
          ? ReadonlyMap<Key, Infer<Value>>
          : N extends SectionType<infer Rows>
            ? { readonly [Key in keyof Rows]: InferRow<Rows[Key]> }
            : N extends ShortType<string, infer Section>
              ? Infer<Section>
              : never;

type InferRow<R> =
  R extends Row<infer N, infer Optional> ? (true extends Optional ? Infer<N> | null : Infer<N>) : never;

/** A value in which whatever could not be read is undefined: what the checks across settings look at. */
export type Draft<T> = T extends string | number | boolean | null
  ? T | undefined
  : T extends ReadonlyMap<infer Key, infer Value>
    ? ReadonlyMap<Key, Draft<Value>> | undefined
    : T extends readonly (infer Item)[]
      ? readonly Draft<Item>[] | undefined
      : { readonly [Key in keyof T]: Draft<T[Key]> } | undefined;
