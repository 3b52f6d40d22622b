import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { changeView } from '../../src/cli/change-view.ts';
import { diffCommand } from '../../src/cli/diff.ts';

const CARD = {
  name: 'W',
  description: 'd',
  version: '1',
  supportedInterfaces: [{ url: 'https://a.example/x', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: {},
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'forecast', name: 'Forecast', description: 'Tells the weather of a place.', tags: ['weather'] }],
};
const CHANGED = {
  ...CARD,
  version: '2',
  skills: [{ ...CARD.skills[0], description: 'Tells the weather of a place and mails it.' }],
};

async function run(
  argv: readonly string[],
  more: { readonly env?: Record<string, string>; readonly stdout?: object } = {},
) {
  let [out, err] = ['', ''];
  const files: Record<string, string> = {
    '/w/a.json': JSON.stringify(CARD),
    '/w/b.json': JSON.stringify(CHANGED),
    '/w/same.json': JSON.stringify({ ...CARD, iconUrl: '' }),
    '/w/none.json': '{"a":1,"a":2}',
  };
  const code = await diffCommand.run({
    argv,
    env: more.env ?? {},
    cwd: '/w',
    stdout: { ...more.stdout, write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
    readFile: async (path) => {
      const text = files[path];
      if (text === undefined) throw new Error('no such file');
      return new TextEncoder().encode(text);
    },
  });
  return { code, out, err };
}

describe('cardea diff', () => {
  test('shows each change beside what was, class by class', async () => {
    const { code, out } = await run(['a.json', 'b.json']);
    assert.equal(code, 1);
    assert.equal(
      out,
      [
        'skill-text',
        '  /skills/0/description  (new: sends)',
        '    Tells the weather of a [-place.-]              │ Tells the weather of a {+place+} {+and+}',
        '                                                   │ {+mails+} {+it.+}',
        '',
        'cosmetic',
        '  /version',
        '    [-1-]                                          │ {+2+}',
        '',
      ].join('\n'),
    );
  });
  test('puts one under the other where the terminal is narrow, and stays within it', async () => {
    const { out } = await run(['a.json', 'b.json'], { env: { COLUMNS: '40' } });
    assert.match(out, /\n {4}- Tells the weather of a \[-place\.-\]\n {4}\+ Tells/);
    assert.ok(
      out.split('\n').every((line) => line.length <= 40),
      out,
    );
  });
  test('uses colour on a terminal, unless NO_COLOR is set', async () => {
    const stdout = { isTTY: true, columns: 80 };
    assert.match((await run(['a.json', 'b.json'], { stdout })).out, /\u001b\[31;4mplace\.\u001b\[0m/);
    assert.doesNotMatch((await run(['a.json', 'b.json'], { stdout, env: { NO_COLOR: '1' } })).out, /\u001b/);
  });
  test('gives the changes as JSON', async () => {
    const { code, out } = await run(['a.json', 'b.json', '--json']);
    assert.equal(code, 1);
    const { changes } = JSON.parse(out) as { changes: { class: string; pointer: string }[] };
    assert.deepEqual(
      changes.map(({ class: of, pointer }) => [of, pointer]),
      [
        ['cosmetic', '/version'],
        ['skill-text', '/skills/0/description'],
      ],
    );
  });
  test('is 0 where both say the same', async () => {
    assert.deepEqual(await run(['a.json', 'a.json']), { code: 0, out: 'the same card\n', err: '' });
    const { code, out } = await run(['a.json', 'same.json']);
    assert.equal(code, 0);
    assert.match(out, /in other words/);
  });
  test('says which file is no card, and how it is called', async () => {
    const unreadable = await run(['a.json', 'none.json']);
    assert.equal(unreadable.code, 1);
    assert.match(unreadable.err, /^none\.json: /);
    assert.equal((await run(['a.json', 'missing.json'])).code, 2);
    assert.equal((await run(['a.json'])).code, 2);
  });
});

test('nothing of a card reaches the terminal as a command to it, and no line is wider than it', () => {
  const after = `\u001b[2J天気予報を${'長'.repeat(80)} ${'x'.repeat(300)}\u202e`;
  for (const columns of [20, 40, 64, 80, 200]) {
    const stdout = { write: () => undefined, columns };
    const out = changeView([{ class: 'skill-text', pointer: '/a', oldPointer: '/a', before: 'b c', after }], {
      stdout,
      env: {},
    });
    assert.doesNotMatch(out, /\u001b|\u202e/);
    for (const line of out.split('\n')) {
      const cells = [...line].reduce((sum, char) => sum + (/[\u2e80-\ua4cf]/.test(char) ? 2 : 1), 0);
      assert.ok(cells <= columns, `${columns}: ${line}`);
    }
  }
});
