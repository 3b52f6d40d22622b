import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import type { TestContext } from 'node:test';

/** Says whether a program that the test needs is there. Where it is not, the test is skipped with a line; in CI it fails. */
export function required(t: TestContext, program: string, probe: readonly string[], how: string): boolean {
  if (spawnSync(program, probe).error === undefined) return true;
  assert.notEqual(process.env['CI'], 'true', `CI needs ${program}: ${how}`);
  t.skip(`no ${program} on this machine: install ${how}`);
  return false;
}
