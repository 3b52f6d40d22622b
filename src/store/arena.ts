/**
 * Bytes of many small things in few pieces of memory. An ArrayBuffer for each would take 400 bytes more, and what malloc gets back
 * between others that stay is no use to anybody: here what is left of a slab moves as soon as a quarter of it is free, so that no more than
 * a third of what is kept is ever wasted.
 */
export interface Arena {
  /** Keeps a copy of the bytes, for one user. */
  keep(bytes: Uint8Array): Spot;
  /** Keeps it for one user more, at the same spot. */
  share(spot: Spot): Spot;
  /** What is kept there, until the next call of `keep` or `free`: to be copied by whoever needs it longer. */
  read(spot: Spot): Uint8Array;
  /** Ends one use: with the last one it is not kept any more, which is said. */
  free(spot: Spot): boolean;
  /** Bytes that all slabs take. */
  size(): number;
}

declare const spot: unique symbol;
/** Says where something is kept: a number, since an object for each would take 50 bytes. It is another's when it was freed. */
export type Spot = number & { readonly [spot]: never };

const SLAB = 256 * 1024;
/** What is larger has a slab of its own. */
const LARGEST_SHARING = SLAB / 16;
const LEAST_USE = 3 / 4;

/** Before the bytes of each thing stand three numbers: its spot, how many bytes, how many users. */
const HEAD = 3 * Uint32Array.BYTES_PER_ELEMENT;

interface Slab {
  readonly number: number;
  readonly bytes: Uint8Array;
  readonly words: Uint32Array;
  /** All that was ever put here stands before it, whether it is still kept, has gone elsewhere or was freed. */
  end: number;
  used: number;
}

export const createArena = (): Arena => new Slabs();

class Slabs implements Arena {
  readonly #slabs = new Map<number, Slab>();
  readonly #places = new Places();
  #made = 0;
  #size = 0;
  #current = this.#make(SLAB);

  keep(bytes: Uint8Array): Spot {
    const found = this.#places.take();
    const { slab, at } = this.#room(found, sizeOf(bytes.byteLength));
    slab.words.set([found, bytes.byteLength, 1], at / 4);
    slab.bytes.set(bytes, at + HEAD);
    return found;
  }

  share(kept: Spot): Spot {
    const { slab, at } = this.#find(kept);
    setUsers(slab, at, usersOf(slab, at) + 1);
    return kept;
  }

  read(kept: Spot): Uint8Array {
    const { slab, at } = this.#find(kept);
    return slab.bytes.subarray(at + HEAD, at + HEAD + lengthOf(slab, at));
  }

  free(kept: Spot): boolean {
    const { slab, at } = this.#find(kept);
    const users = usersOf(slab, at) - 1;
    setUsers(slab, at, users);
    if (users > 0) return false;
    this.#places.giveBack(kept);
    slab.used -= sizeOf(lengthOf(slab, at));
    if (slab !== this.#current && isWaste(slab)) this.#clear(slab);
    return true;
  }

  size(): number {
    return this.#size;
  }

  #find(kept: Spot): { readonly slab: Slab; readonly at: number } {
    const slab = this.#slabs.get(this.#places.slab(kept));
    if (slab === undefined) throw new Error('nothing is kept there any more');
    return { slab, at: this.#places.at(kept) };
  }

  #room(kept: Spot, size: number): { readonly slab: Slab; readonly at: number } {
    const slab = size > LARGEST_SHARING ? this.#make(size) : this.#withRoom(size);
    const at = slab.end;
    this.#places.set(kept, slab.number, at);
    slab.end += size;
    slab.used += size;
    return { slab, at };
  }

  #withRoom(size: number): Slab {
    const full = this.#current;
    if (full.end + size <= SLAB) return full;
    this.#current = this.#make(SLAB);
    // What was freed of it so far was left alone.
    if (isWaste(full)) this.#clear(full);
    return this.#withRoom(size);
  }

  #make(size: number): Slab {
    const buffer = new ArrayBuffer(size);
    const [bytes, words] = [new Uint8Array(buffer), new Uint32Array(buffer)];
    const slab = { number: (this.#made += 1), bytes, words, end: 0, used: 0 };
    this.#slabs.set(slab.number, slab);
    this.#size += size;
    return slab;
  }

  /** Moves what is left, and lets the slab go: each byte that is freed moves three others at most. */
  #clear(slab: Slab): void {
    this.#size -= slab.bytes.byteLength;
    this.#slabs.delete(slab.number);
    for (let at = 0; at < slab.end; at += sizeOf(lengthOf(slab, at))) {
      const kept = spotOf(slab.words[at / 4] ?? 0);
      if (this.#places.slab(kept) !== slab.number || this.#places.at(kept) !== at) continue;
      const whole = slab.bytes.subarray(at, at + sizeOf(lengthOf(slab, at)));
      const room = this.#room(kept, whole.byteLength);
      room.slab.bytes.set(whole, room.at);
    }
  }
}

/** In which slab what is kept is, and where. */
class Places {
  #slab = new Uint32Array(FEWEST);
  #at = new Uint32Array(FEWEST);
  readonly #free: Spot[] = [];
  #taken = 0;

  take(): Spot {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    if (this.#taken === this.#slab.length) [this.#slab, this.#at] = [doubled(this.#slab), doubled(this.#at)];
    this.#taken += 1;
    return spotOf(this.#taken - 1);
  }

  giveBack(kept: Spot): void {
    this.#slab[kept] = NOWHERE;
    this.#free.push(kept);
  }

  set(kept: Spot, slab: number, at: number): void {
    this.#slab[kept] = slab;
    this.#at[kept] = at;
  }

  slab(kept: Spot): number {
    return this.#slab[kept] ?? NOWHERE;
  }

  at(kept: Spot): number {
    return this.#at[kept] ?? 0;
  }
}

const FEWEST = 1_024;
/** No slab has this number. */
const NOWHERE = 0;

function doubled(numbers: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const more = new Uint32Array(numbers.length * 2);
  more.set(numbers);
  return more;
}

const spotOf = (place: number): Spot => place as Spot;

/** With its head, up to where the next head may stand. */
const sizeOf = (length: number): number => HEAD + Math.ceil(length / 4) * 4;
const lengthOf = ({ words }: Slab, at: number): number => words[at / 4 + 1] ?? 0;
const usersOf = ({ words }: Slab, at: number): number => words[at / 4 + 2] ?? 0;
const setUsers = ({ words }: Slab, at: number, users: number): void => {
  words[at / 4 + 2] = users;
};

const isWaste = ({ used, bytes }: Slab): boolean => used < bytes.byteLength * LEAST_USE;
