/** One clock for everything on the page that runs down: a tick a second, and only for what is in sight. */

/** @typedef {(now: number) => void} Paint */

/**
 * Makes the clock.
 * @param {() => number} now the daemon's clock
 */
export function createTicker(now) {
  /** @type {Map<Element, Paint>} */
  const paints = new Map();
  /** @type {Set<Element>} */
  const seen = new Set();
  const sight = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) seen.delete(target);
      else if (!seen.has(target)) {
        seen.add(target);
        paints.get(target)?.(now());
      }
    }
  });
  setInterval(() => {
    const at = now();
    for (const element of seen) paints.get(element)?.(at);
  }, 1_000);
  return {
    now,
    /**
     * Paints an element now, and every second while it is in sight, until the returned function is called.
     * @param {Element} element
     * @param {Paint} paint
     */
    watch(element, paint) {
      paints.set(element, paint);
      paint(now());
      sight.observe(element);
      return () => {
        sight.unobserve(element);
        paints.delete(element);
        seen.delete(element);
      };
    },
  };
}

/** @typedef {ReturnType<typeof createTicker>} Ticker */

/**
 * Writes text where it is not written yet: what does not change touches no layout.
 * @param {Element} element
 * @param {string} text
 */
export function writeText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
