import type { Fields } from '../kernel/fields.ts';
import type { Refusal } from '../kernel/refusal.ts';
import { wrongNames } from './request-fields.ts';

/**
 * Where each field stands in a request, and what is wrong with their names. Clients write the same names in the same order again and
 * again, so that this is worked out once for a connection: a further request costs one comparison a name, and its values are its own.
 */
export class FieldPlaces {
  /** What is wrong with these names, whatever the values are. */
  readonly wrong: Refusal | undefined;
  readonly #names: readonly string[];
  /** By lower-case name; all lines of a field, in order. */
  readonly #places = new Map<string, readonly number[]>();

  constructor(fields: Fields) {
    this.#names = fields.filter((_, at) => at % 2 === 0);
    this.#names.forEach((name, at) => {
      const lower = name.toLowerCase();
      this.#places.set(lower, [...(this.#places.get(lower) ?? []), at * 2 + 1]);
    });
    this.wrong = wrongNames(fields);
  }

  /** True where the fields have these very names, in this order and case. */
  fit(fields: Fields): boolean {
    const names = this.#names;
    if (fields.length !== names.length * 2) return false;
    for (let at = 0; at < names.length; at += 1) if (fields[at * 2] !== names[at]) return false;
    return true;
  }

  /** Reads one field by lower-case name, lines joined by `, `, from fields that fit. */
  read(fields: Fields, name: string): string | undefined {
    const places = this.#places.get(name);
    if (places === undefined) return undefined;
    const [first = 0] = places;
    return places.length === 1 ? fields[first] : places.map((at) => fields[at] ?? '').join(', ');
  }
}
