import { Buffer } from 'node:buffer';
import { crc32 } from 'node:zlib';
import type { Arena, Spot } from './arena.ts';
import { ownBytes } from './compact.ts';

/** Holds each body once, however many entries have the same bytes. */
export interface Bodies<Held> {
  /** Holds it for one user more. */
  hold(body: Uint8Array): Held;
  /** Ends one use. */
  release(held: Held): void;
}

/** Holds bodies in memory that all share. */
export function createPackedBodies(arena: Arena): Bodies<Spot> {
  const known = new Map<number, Spot>();
  return {
    hold(body) {
      const sum = sumOf(body);
      const found = known.get(sum);
      if (found !== undefined && isSame(arena.read(found), body)) return arena.share(found);
      const held = arena.keep(body);
      known.set(sum, held);
      return held;
    },
    release(held) {
      const sum = sumOf(arena.read(held));
      if (arena.free(held) && known.get(sum) === held) known.delete(sum);
    },
  };
}

/**
 * Holds bodies that are not copied whenever they are asked for. Each user has a view of its own on the same memory, and keeps the one that
 * it has: what is made of a card, its signature for one, is remembered by it.
 */
export function createOpenBodies(): Bodies<Uint8Array> {
  const known = new Map<number, { readonly buffer: ArrayBufferLike; users: number }>();
  return {
    hold(body) {
      const sum = sumOf(body);
      const found = known.get(sum);
      if (found !== undefined && isSame(new Uint8Array(found.buffer), body)) {
        found.users += 1;
        return body.buffer === found.buffer ? body : new Uint8Array(found.buffer);
      }
      const held = ownBytes(body);
      known.set(sum, { buffer: held.buffer, users: 1 });
      return held;
    },
    release(held) {
      const sum = sumOf(held);
      const found = known.get(sum);
      // What is not found here had to make way for another of the same sum: who has it has it alone.
      if (found?.buffer !== held.buffer) return;
      found.users -= 1;
      if (found.users === 0) known.delete(sum);
    },
  };
}

/**
 * What a body is looked for by: a number takes no memory of its own. Two of the same sum are as many bodies, and the newer one is found from
 * then on: an origin that makes one up keeps others from sharing, and changes nothing that is served.
 */
const sumOf = (body: Uint8Array): number => crc32(body) | 0; // a small integer for V8 only with its sign

const isSame = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0;
