import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { problemsOf } from '../support/config.ts';

describe('YAML', () => {
  const cases: readonly (readonly [string, string | Uint8Array, RegExp])[] = [
    ['a broken flow', 'agents: { a: ', /^c\.yaml:1:14: is not well-formed YAML: /],
    ['a tab for indentation', 'cache:\n\tmaxTtl: 1h', /^c\.yaml:2:1: is not well-formed YAML: /],
    ['IPv6 without quotes', 'listen:\n  agents: [::1]:8642', /^c\.yaml:2:\d+: .*written in quotes: "\[::1\]:8642"/],
    ['a value that looks like an alias', 'state: *hunter2', /^c\.yaml:1:8 state: .*is written in quotes/],
    ['an anchor inside itself', 'agents: &a { x: *a }', /^c\.yaml:1:17 agents\.x: repeats no anchor that is complete/],
    ['merge keys', 'agents:\n  a: { <<: { origin: https://a.example } }', /^c\.yaml:2:8 agents\.a: merge keys/],
    ['a tag of its own', 'state: !vault hunter2', /^c\.yaml:1:8: is not well-formed YAML: Unresolved tag/],
    ['two documents', 'state: a\n---\nstate: b', /^c\.yaml:2:1: is not well-formed YAML: /],
    ['a key that is no word', '? [a]\n: b', /^c\.yaml:1:3: is not well-formed YAML: /],
    ['another encoding', new Uint8Array([0x73, 0xff]), /^c\.yaml:1:1: is not UTF-8/],
    ['5 MiB', new Uint8Array(5 * 1024 * 1024), /^c\.yaml:1:1: is 5242880 bytes long/],
    ['a tower of brackets', '['.repeat(100_000), /^c\.yaml:\d+:\d+: /],
    ['seventeen levels', `state: ${'['.repeat(17)}${']'.repeat(17)}`, /is nested more than 16 levels deep/],
    ['a billion laughs', laughs(), /repeats anchors too often/],
  ];
  for (const [name, text, said] of cases) {
    test(`refuses ${name}`, async () => {
      const problems = await problemsOf(text);
      assert.ok(
        problems.some((problem) => said.test(problem)),
        problems.join('\n'),
      );
      assert.ok(!problems.join().includes('hunter2'), 'repeats what may be a secret');
    });
  }
});

function laughs(): string {
  const lines = Array.from(
    { length: 12 },
    (_, at) => `l${at + 1}: &l${at + 1} [${Array(9).fill(`*l${at}`).join(', ')}]`,
  );
  return ['l0: &l0 [ha]', ...lines].join('\n');
}
