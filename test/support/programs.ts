import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import type { TestContext } from 'node:test';

/** Says whether a program that tests need is there; in CI it must be. */
export function isThere(program: string, probe: readonly string[], how: string): boolean {
  const found = spawnSync(program, probe).error === undefined;
  if (!found) assert.notEqual(process.env['CI'], 'true', `CI needs ${program}: ${how}`);
  return found;
}

/** The same for one test, which is skipped with a line where it is not. */
export function required(t: TestContext, program: string, probe: readonly string[], how: string): boolean {
  const found = isThere(program, probe, how);
  if (!found) t.skip(`no ${program} on this machine: install ${how}`);
  return found;
}
