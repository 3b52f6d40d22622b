import type { Node, Pair, Scalar } from 'yaml';
import type { Given, GivenMember, GivenScalar } from './given.ts';
import { formatPlace, itemPath, memberPath, type Place, type Problem } from './place.ts';
import type { Yaml } from './yaml-parser.ts';

/** The table is five levels deep. */
const MAX_DEPTH = 16;
/** More than a file of the largest size has, so that only aliases of aliases can reach it ("billion laughs"). */
const MAX_NODES = 1_000_000;

/** Turns the parser's nodes into what was given, and reports what YAML allows and a configuration does not. */
export class DocumentWalk {
  readonly problems: Problem[] = [];
  readonly #yaml: Yaml;
  readonly #at: (offset: number) => Place;
  readonly #anchors = new Map<string, { readonly given: Given; readonly nodes: number }>();
  #nodes = 0;

  constructor(yaml: Yaml, at: (offset: number) => Place) {
    this.#yaml = yaml;
    this.#at = at;
  }

  read(node: Node, path: string, depth: number): Given {
    const at = this.#place(node);
    if (depth > MAX_DEPTH) return this.#refuse(at, path, `is nested more than ${MAX_DEPTH} levels deep`);
    const before = this.#nodes;
    this.#nodes += 1;
    if (this.#yaml.isAlias(node)) return this.#repeat(node.source, at, path);
    const given = this.#content(node, at, { path, depth });
    // Only now, so that an anchor inside itself is not there yet.
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, { given, nodes: this.#nodes - before });
    return given;
  }

  #content(node: Scalar.Parsed | Node, at: Place, { path, depth }: { path: string; depth: number }): Given {
    if (this.#yaml.isScalar(node)) return scalar(node, at);
    if (this.#yaml.isMap(node)) return { kind: 'mapping', members: this.#members(node.items, path, depth), at };
    if (this.#yaml.isSeq(node)) {
      const read = (item: unknown, index: number): Given =>
        this.#yaml.isNode(item) ? this.read(item, itemPath(path, index), depth + 1) : nothing(at);
      return { kind: 'list', items: node.items.map(read), at };
    }
    return this.#refuse(at, path, 'is nothing that a configuration holds');
  }

  #members(pairs: readonly Pair[], path: string, depth: number): ReadonlyMap<string, GivenMember> {
    const members = new Map<string, GivenMember>();
    for (const { key, value } of pairs) {
      if (!this.#yaml.isScalar(key)) continue; // the parser has refused it: stringKeys
      const keyAt = this.#place(key);
      const name = scalar(key, keyAt).text;
      const here = memberPath(path, name);
      const first = members.get(name);
      const given = this.#yaml.isNode(value) ? this.read(value, here, depth + 1) : nothing(keyAt);
      if (name === '<<')
        this.#refuse(
          keyAt,
          path,
          'merge keys ("<<") are not read; write the settings out, or repeat a value by an alias',
        );
      else if (first === undefined) members.set(name, { keyAt, value: given });
      else this.#refuse(keyAt, here, `is written twice; the first stands at ${formatPlace(first.keyAt)}`);
    }
    return members;
  }

  #repeat(anchor: string, at: Place, path: string): Given {
    const known = this.#anchors.get(anchor);
    // The name is not repeated: what looks like an alias may be a secret without its quotes.
    if (known === undefined)
      return this.#refuse(
        at,
        path,
        'repeats no anchor that is complete before it; a value that starts with "*" is written in quotes',
      );
    this.#nodes += known.nodes;
    return this.#nodes > MAX_NODES ? this.#refuse(at, path, 'repeats anchors too often') : known.given;
  }

  #place(node: Node): Place {
    return this.#at(node.range?.[0] ?? 0);
  }

  #refuse(at: Place, path: string, message: string): Given {
    // A bound that is passed once is passed by everything after it: one message says so.
    if (this.problems.at(-1)?.message !== message) this.problems.push({ at, path, message });
    return { kind: 'broken', at };
  }
}

function scalar(node: Scalar, at: Place): GivenScalar {
  const plain = node.type === undefined || node.type === 'PLAIN';
  return { kind: 'scalar', text: node.source ?? '', plain, at };
}

const nothing = (at: Place): GivenScalar => ({ kind: 'scalar', text: '', plain: true, at });
