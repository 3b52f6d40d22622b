import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The whole story of `npm run demo`, chapter by chapter, and that it ends when it is told to. */
describe('the demo', () => {
  const chapters = new Map<string, string>();
  let code: unknown;

  before(async () => {
    const child = spawn(process.execPath, ['demo/demo.ts'], { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
    const errors = text(child.stderr);
    const ended = once(child, 'exit');
    let title = '';
    for await (const line of createInterface({ input: child.stdout })) {
      if (/^\S/.test(line)) title = line;
      chapters.set(title, `${chapters.get(title) ?? ''}${line}\n`);
      if (line.includes('Ctrl-C ends the demo')) child.kill('SIGTERM');
    }
    [code] = await ended;
    assert.equal(code, 0, `${await errors}\n${[...chapters.values()].join('')}`);
  });
  after(() => chapters.clear());

  const chapter = (words: string): string => {
    const found = [...chapters].find(([title]) => title.includes(words));
    assert.ok(found !== undefined, `${words} is in none of ${[...chapters.keys()].join('; ')}`);
    return found[1];
  };

  test('two users each get their own extended card, cached, and neither that of the other', () => {
    const told = chapter('to each something else');
    for (const [name, other] of [
      ['Ann', 'Ben'],
      ['Ben', 'Ann'],
    ] as const) {
      const shown = new RegExp(`${name}'s client is shown: (.*)\\.\\n  +and once more: (.*)\\.`).exec(told);
      assert.ok(shown !== null, told);
      assert.equal(shown[1], `Plan, Book on ${name}'s account`, told);
      assert.equal(shown[2], shown[1]);
      assert.ok(!shown[1].includes(other), told);
      assert.match(told, new RegExp(`as ${name}, .*→ {2}200\\n +cache-status: cardea; hit`));
    }
    assert.match(told, /showed 2 cards, one each to Ann and Ben\./);
    assert.match(told, /as nobody {2}→ {2}401/);
    assert.match(told, /has still shown 2\./);
  });
  test('no token stands in what it prints', () => {
    assert.doesNotMatch([...chapters.values()].join(''), /the-token-of/);
  });
  test('a changed copy is refused', () => {
    assert.match(chapter('A signed card'), /→ {2}502[^]*signature-invalid/);
  });
  test('the switch stops calls, and lifting it lets them through', () => {
    assert.match(
      chapter('throws the switch'),
      /hears: "Weather heard you\."[^]*The stream ended after[^]*It asks again: (?!Weather)[^]*once more: "Weather heard you\."/,
    );
  });
  test('a card outlives its origin', () => {
    assert.match(chapter('Try it'), /http:\/\/127\.0\.0\.1:\d+\/console\/#code=[\w-]{43}\n/);
    assert.match(chapter('the card stays'), /→ {2}200/);
  });
});
