import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readDocument } from '../../src/config/document.ts';
import { forgetYaml, loadYaml } from '../../src/config/yaml-parser.ts';

const read = (): unknown =>
  readDocument(new TextEncoder().encode('agents: {a: {origin: https://a.example}}'), 'c.yaml');

test('the parser is loaded once, let go, and loaded again for the next reading, which reads the same', () => {
  const first = read();
  const parser = loadYaml();
  assert.equal(loadYaml(), parser);
  forgetYaml();
  assert.notEqual(loadYaml(), parser);
  assert.deepEqual(read(), first);
});

test('nothing of a parser that was let go is kept', async () => {
  const gone = new WeakRef(loadYaml().parseDocument);
  read();
  forgetYaml();
  const { collectGarbage } = await import('../../src/daemon/garbage.ts');
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  assert.equal(gone.deref(), undefined);
});
