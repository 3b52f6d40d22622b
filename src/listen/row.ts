/** Where a member of a row stands. */
export class Place<T extends object> {
  readonly #row: Row<T>;
  /** Nobody any more once it has left: a listener that holds a place of its own lives as long as what it listens to. */
  member: T | undefined;
  before: Place<T> | undefined;
  behind: Place<T> | undefined;

  constructor(row: Row<T>, member: T, before: Place<T> | undefined) {
    this.#row = row;
    this.member = member;
    this.before = before;
  }

  /** Nothing happens where the member has left. */
  leave(): void {
    this.#row.remove(this);
  }
}

/**
 * Members in the order in which they came, of which any may leave at any time. Whoever leaves is pointed to by nobody and points to
 * nobody: a Map that comes and goes leaves tables behind that hold what was in it, each the next, until all of memory is looked through.
 */
export class Row<T extends object> {
  #first: Place<T> | undefined;
  #last: Place<T> | undefined;

  get first(): Place<T> | undefined {
    return this.#first;
  }

  add(member: T): Place<T> {
    const place = new Place(this, member, this.#last);
    if (this.#last === undefined) this.#first = place;
    else this.#last.behind = place;
    return (this.#last = place);
  }

  /** Takes a member out by its place; nothing happens where it has left. */
  remove(place: Place<T>): void {
    if (place.member === undefined) return;
    const { before, behind } = place;
    if (before === undefined) this.#first = behind;
    else before.behind = behind;
    if (behind === undefined) this.#last = before;
    else behind.before = before;
    place.before = undefined;
    place.behind = undefined;
    place.member = undefined;
  }

  /** All who are there now, first to last. */
  members(): readonly T[] {
    const all: T[] = [];
    for (let place = this.#first; place !== undefined; place = place.behind)
      if (place.member !== undefined) all.push(place.member);
    return all;
  }
}
