import { createHook } from 'node:async_hooks';

/** What Node made for one call of `process.nextTick`; never looked at. */
let kept: object | undefined;

/**
 * Keeps what Node made for one call of `process.nextTick`, and so the shape of all of them. V8 forgets a shape when it collects its whole
 * heap while nothing has it, and never again compiles well what makes objects of a shape that was another one before
 * (docs/decisions/0009-shapes-that-stay.md). To be called before the first such collection; the hook is gone when it returns. Returns false
 * where there was nothing to keep: Node may make no such object some day.
 */
export function keepTickShape(): boolean {
  const hook = createHook({
    trackPromises: false,
    init: (_id, type, _trigger, resource) => {
      if (type === 'TickObject') kept ??= resource;
    },
  });
  hook.enable();
  process.nextTick(() => undefined);
  hook.disable();
  return kept !== undefined;
}
