/** A sink that breaks is told of once, on stderr: what broke there breaks at every event, and would fill the disk. */
export function guarded<Said extends readonly unknown[]>(
  name: string,
  take: (...said: Said) => void,
): (...said: Said) => void {
  let told = false;
  return (...said) => {
    try {
      take(...said);
    } catch (error) {
      if (told) return;
      told = true;
      const why = error instanceof Error ? error.message : String(error);
      process.emitWarning(`${name}: ${why}`, { type: 'CardeaObserverWarning' });
    }
  };
}
