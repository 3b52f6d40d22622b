import { test } from 'node:test';
import { World, type WorldOptions } from './world.ts';

/** Runs a dialogue in a world of its own, which ends with it whatever happens. */
export function scenario(name: string, options: WorldOptions, run: (world: World) => Promise<void>): void {
  test(name, async () => {
    const world = await World.start(options);
    try {
      await run(world);
    } finally {
      await world.stop();
    }
  });
}

/** Configures the world's origin with `content: any`, on a listener of its own. */
export const ANY_ORIGIN =
  'origins: [{ match: "$ORIGIN", content: any, listen: "127.0.0.1:0", unsafeCleartext: true, unsafeAddresses: [127.0.0.1/32] }]';

/** Where that listener is. */
export const anyOriginUrl = ({ daemon, origin }: World): string =>
  `http://${daemon.started.listeners[`origin:${origin.url}`]}`;
