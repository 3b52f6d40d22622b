/**
 * Bytes of many small things in few pieces of memory. An ArrayBuffer for each would take 400 bytes more, and what malloc gets back
 * between others that stay is no use to anybody: here what is left of a slab moves as soon as a quarter of it is free, so that no more than
 * a third of what is kept is ever wasted.
 */
export interface Arena {
  /** Keeps a copy of the parts, one behind the other. */
  keep(parts: readonly Uint8Array[]): Spot;
  /** What is kept there, until the next call of `keep` or `free`: to be copied by whoever needs it longer. */
  read(spot: Spot): Uint8Array;
  free(spot: Spot): void;
  /** Bytes that all slabs take. */
  size(): number;
}

/** Where something is kept. */
export interface Spot {
  readonly length: number;
}

const SLAB = 256 * 1024;
/** What is larger has a slab of its own. */
const LARGEST_SHARING = SLAB / 16;
const LEAST_USE = 3 / 4;

interface Slab {
  readonly bytes: Uint8Array;
  /** All that was ever put here; what has gone elsewhere names another slab. */
  readonly places: Place[];
  end: number;
  used: number;
}

class Place implements Spot {
  readonly length: number;
  slab: Slab | null = null;
  at = 0;

  constructor(length: number) {
    this.length = length;
  }
}

export const createArena = (): Arena => new Slabs();

class Slabs implements Arena {
  #size = SLAB;
  #current = slabOf(SLAB);

  keep(parts: readonly Uint8Array[]): Spot {
    const place = new Place(parts.reduce((length, part) => length + part.byteLength, 0));
    const { bytes } = this.#put(place);
    let { at } = place;
    for (const part of parts) {
      bytes.set(part, at);
      at += part.byteLength;
    }
    return place;
  }

  read(spot: Spot): Uint8Array {
    const { slab, at, length } = placeOf(spot);
    if (slab === null) throw new Error('nothing is kept there any more');
    return slab.bytes.subarray(at, at + length);
  }

  free(spot: Spot): void {
    const place = placeOf(spot);
    const { slab, length } = place;
    if (slab === null) return;
    place.slab = null;
    slab.used -= length;
    if (slab !== this.#current && isWaste(slab)) this.#clear(slab);
  }

  size(): number {
    return this.#size;
  }

  #put(place: Place): Slab {
    const slab = place.length > LARGEST_SHARING ? this.#make(place.length) : this.#withRoom(place.length);
    place.slab = slab;
    place.at = slab.end;
    slab.places.push(place);
    slab.end += place.length;
    slab.used += place.length;
    return slab;
  }

  #withRoom(length: number): Slab {
    const full = this.#current;
    if (full.end + length <= SLAB) return full;
    this.#current = this.#make(SLAB);
    // What was freed of it so far was left alone.
    if (isWaste(full)) this.#clear(full);
    return this.#withRoom(length);
  }

  #make(length: number): Slab {
    this.#size += length;
    return slabOf(length);
  }

  /** Moves what is left, and lets the slab go: each byte that is freed moves three others at most. */
  #clear(slab: Slab): void {
    this.#size -= slab.bytes.byteLength;
    for (const place of slab.places) {
      if (place.slab !== slab) continue;
      const whole = slab.bytes.subarray(place.at, place.at + place.length);
      const { bytes } = this.#put(place);
      bytes.set(whole, place.at);
    }
  }
}

const slabOf = (length: number): Slab => ({ bytes: new Uint8Array(length), places: [], end: 0, used: 0 });

const isWaste = ({ used, bytes }: Slab): boolean => used < bytes.byteLength * LEAST_USE;

function placeOf(spot: Spot): Place {
  if (spot instanceof Place) return spot;
  throw new Error('no spot of an arena');
}
