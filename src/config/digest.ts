import { createHash } from 'node:crypto';

/** Hashed at a time: a configuration with 100,000 agents has 300 MB of text, all of it at once a gigabyte of memory. */
const CHUNK = 65_536;

/** Names a value by its content: `sha256:` and hex over JSON with sorted members; equal values have equal digests. */
export function digestOf(value: unknown): string {
  const hash = createHash('sha256');
  let text = '';
  writeSorted(value, (piece) => {
    text += piece;
    if (text.length < CHUNK) return;
    hash.update(text);
    text = '';
  });
  return `sha256:${hash.update(text).digest('hex')}`;
}

function writeSorted(value: unknown, write: (piece: string) => void): void {
  if (Array.isArray(value)) {
    writeList(value, write, writeSorted);
  } else if (typeof value === 'object' && value !== null) {
    const members =
      value instanceof Map ? [...value].map(([key, member]) => [String(key), member] as const) : Object.entries(value);
    // Pairs, because an object would put members that look like numbers first and drop "__proto__".
    write('{"members":');
    writeList(
      members.toSorted(([one], [other]) => (one < other ? -1 : 1)),
      write,
      writeMember,
    );
    write('}');
  } else write(JSON.stringify(value) ?? 'null');
}

function writeMember([key, member]: readonly [string, unknown], write: (piece: string) => void): void {
  write(`[${JSON.stringify(key)},`);
  writeSorted(member, write);
  write(']');
}

function writeList<Item>(
  items: readonly Item[],
  write: (piece: string) => void,
  writeItem: (item: Item, write: (piece: string) => void) => void,
): void {
  write('[');
  for (const [index, item] of items.entries()) {
    if (index > 0) write(',');
    writeItem(item, write);
  }
  write(']');
}
