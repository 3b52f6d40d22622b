import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';

const folder = path.resolve(import.meta.dirname, '../../src/daemon');

/** Runs a program in a process of its own: what a heap is like is the whole process's. */
function run(program: string): unknown {
  const line = ['--input-type=module', '-e', program, folder];
  const { stdout, stderr, status } = spawnSync(process.execPath, line, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

test('what a load needed of the young generation is given back by collecting it when the load is over', () => {
  const figures = run(`
    const { collectYoung, youngBytes } = await import(process.argv[1] + '/garbage.ts');
    const kept = [];
    for (let at = 0; at < 400_000; at += 1) kept.push({ at, more: [at] });
    const loaded = youngBytes();
    kept.length = 0;
    // V8 makes it small where little was allocated in the last 5 s, by its own clock.
    const until = performance.now() + 20_000;
    while (youngBytes() > 4 * 1024 ** 2 && performance.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, 500));
      collectYoung();
    }
    console.log(JSON.stringify({ loaded, after: youngBytes() }));
  `) as { readonly loaded: number; readonly after: number };
  assert.ok(figures.loaded >= 16 * 1024 ** 2, JSON.stringify(figures));
  assert.ok(figures.after <= 4 * 1024 ** 2, JSON.stringify(figures));
});

test('what Node makes for nextTick is there to be kept, and nothing stays of the hook that found it', () => {
  const told = run(`
    import hooks from 'node:async_hooks';
    import { syncBuiltinESMExports } from 'node:module';
    const { createHook } = hooks;
    let on = 0;
    hooks.createHook = (callbacks) => {
      const hook = createHook(callbacks);
      return { enable: () => ((on += 1), hook.enable()), disable: () => ((on -= 1), hook.disable()) };
    };
    syncBuiltinESMExports();
    const { keepTickShape } = await import(process.argv[1] + '/tick-shape.ts');
    console.log(JSON.stringify({ found: keepTickShape(), on }));
  `);
  assert.deepEqual(told, { found: true, on: 0 });
});
