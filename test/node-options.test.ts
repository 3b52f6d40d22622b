import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type TestContext, describe, test } from 'node:test';
import { processNotices } from '../src/daemon/process-notices.ts';
import { RawSocket } from './support/raw-socket.ts';

/*
 * What somebody left in NODE_OPTIONS decides nothing here, or is said aloud. The Node that is too old is the launcher's (launcher.test.ts).
 */

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const NOWHERE = [
  '--listen-agents=127.0.0.1:0',
  '--listen-ops=127.0.0.1:0',
  '--listen-admin=127.0.0.1:0',
  '--state=memory',
];

async function serve(t: TestContext, options: string) {
  const child: ChildProcess = spawn(process.execPath, [MAIN, 'serve', '--config=/dev/null', ...NOWHERE], {
    env: { NODE_OPTIONS: options, NODE_TLS_REJECT_UNAUTHORIZED: '0' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  t.after(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  assert.ok(child.stdout);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (msg: string): Promise<Record<string, unknown>> => {
    for (;;) {
      const { value, done } = await lines.next();
      assert.ok(done !== true, `no ${msg}`);
      const line = JSON.parse(value) as Record<string, unknown>;
      if (line['msg'] === msg) return line;
    }
  };
  const started = (await next('started')) as { agents?: string[]; admin?: string[]; ops?: string[] };
  const ports = [started.agents, started.ops, started.admin].map((at) => Number(/\d+$/.exec(at?.[0] ?? '')?.[0]));
  return { next, ports };
}

const SMUGGLING =
  'POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n';
const LONG = `GET /x HTTP/1.1\r\nHost: localhost\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`;

describe('options of Node that would weaken the parser', () => {
  test('change nothing on any listener, and are said at start', async (t) => {
    const flags = '--insecure-http-parser --max-http-header-size=1048576';
    const { next, ports } = await serve(t, flags);
    const said = [await next('Node was started with'), await next('Node was started with')];
    assert.deepEqual(
      said.map((line) => [line['level'], line['flags']]),
      [
        ['warn', flags.split(' ').map((flag) => flag.replace(/=.*/, ''))],
        ['warn', ['NODE_TLS_REJECT_UNAUTHORIZED=0']],
      ],
    );
    for (const port of ports) {
      for (const [bytes, status] of [
        [SMUGGLING, 400],
        [LONG, 431],
      ] as const) {
        const socket = await RawSocket.connect(port);
        await socket.send(bytes);
        await socket.ended();
        assert.match(socket.text, new RegExp(`^HTTP/1\\.1 ${status} `), `${port}`);
      }
    }
  });
});

describe('what is said of how Node was started', () => {
  const said = (NODE_OPTIONS: string, execArgv: readonly string[] = []) =>
    processNotices({ execArgv, env: { NODE_OPTIONS } }).map(({ level, about }) => [level, about?.['flags']]);
  const cases: readonly (readonly [options: string, said: readonly unknown[]])[] = [
    ['', []],
    ['--max-old-space-size=64 --enable-source-maps', []],
    ['--inspect', [['error', ['--inspect']]]],
    ['--inspect=0.0.0.0:9229', [['error', ['--inspect']]]],
    ['"--inspect-brk"', [['error', ['--inspect-brk']]]],
    ['--inspect_wait', [['error', ['--inspect-wait']]]],
    ['--inspect-publish-uid=http', []],
    ['--tls-keylog=/tmp/keys', [['error', ['--tls-keylog']]]],
    [
      '--heapsnapshot-signal=SIGUSR2 --insecure-http-parser',
      [
        ['warn', ['--heapsnapshot-signal']],
        ['warn', ['--insecure-http-parser']],
      ],
    ],
  ];
  for (const [options, expected] of cases)
    test(`NODE_OPTIONS="${options}"`, () => assert.deepEqual(said(options), expected));
  test('on the command line as in the environment', () =>
    assert.deepEqual(said('', ['--inspect']), [['error', ['--inspect']]]));
});
