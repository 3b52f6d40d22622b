/** Runs work about one thing at a time, in the order in which it came; work about other things does not wait for it. */
export type InTurn = <T>(about: string, work: () => Promise<T>) => Promise<T>;

export function createTurns(): InTurn {
  const last = new Map<string, Promise<void>>();
  return (about, work) => {
    const own = (last.get(about) ?? Promise.resolve()).then(work);
    const end = (): void => {
      if (last.get(about) === ended) last.delete(about);
    };
    const ended = own.then(end, end);
    last.set(about, ended);
    return own;
  };
}
