/** A signal that is kept until somebody can obey it. */
export interface HeldSignal {
  deliverTo(obey: (signal: NodeJS.Signals) => void): void;
}

/** Takes these signals from now on: until somebody listens, they end the process. */
export function holdSignals(signals: readonly NodeJS.Signals[]): readonly HeldSignal[] {
  return signals.map((signal) => {
    let came = false;
    let obey: (signal: NodeJS.Signals) => void = () => (came = true);
    process.on(signal, () => obey(signal));
    return {
      deliverTo(given) {
        obey = given;
        if (came) given(signal);
      },
    };
  });
}
