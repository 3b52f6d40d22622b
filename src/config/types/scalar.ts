/** What reading one value comes to: the value, or what is wrong with it and the right spelling. */
export type Reading<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly why: string };

export const good = <T>(value: T): Reading<T> => ({ ok: true, value });
export const wrong = (why: string): { readonly ok: false; readonly why: string } => ({ ok: false, why });

/** The part of JSON Schema (2020-12) that the table needs. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** A kind of value that is written in one word; the same in the file, in a flag and in the environment. */
export interface ScalarType<T> {
  readonly kind: 'scalar';
  /** One noun for messages and documentation: `duration`. */
  readonly name: string;
  /** What may be written, for the documentation: `0s to 365d`, `debug, info, warn, error`; `''` where the noun says it. */
  readonly range: string;
  /** True where YAML's own number or boolean is meant, which must stand without quotes. */
  readonly bare: boolean;
  readonly schema: JsonSchema;
  /** Reads what was written; a relative path is relative to `folder`. */
  read(text: string, folder: string): Reading<T>;
  /** What a plain `null` stands for; where it is left out, `null` is a mistake. */
  readonly nothing?: T;
  /** Writes the value as it would be written in the file. */
  show(value: T): string | number | boolean | null;
}
