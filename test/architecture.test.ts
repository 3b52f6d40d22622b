import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { importsOf, withoutComments } from './support/source-imports.ts';

interface Rule {
  /** Folders and files of src/ that it may import; `name:type` allows types alone. */
  readonly folders: readonly string[];
  readonly packages?: readonly string[];
  /** `pure`: no node: module but these, and no global that reads the world. `world`: any that opens no socket. */
  readonly reach: 'pure' | 'world';
  readonly node?: readonly string[];
  /** `servers` may listen, `all` may dial too. */
  readonly sockets?: 'servers' | 'all';
}

const HASH = ['node:crypto'];
const CORE = ['kernel', 'ports', 'http', 'policy', 'card', 'bindings'];
const ALL = [...CORE, 'discovery', 'egress', 'registry', 'store', 'listen', 'admin', 'observe', 'config', 'cli'];

/** Who may import what: the architecture in one table. */
const TABLE: Readonly<Record<string, Rule>> = {
  kernel: { folders: [], reach: 'pure' },
  ports: { folders: ['kernel'], reach: 'pure' },
  http: { folders: ['kernel'], reach: 'pure', node: HASH },
  policy: { folders: ['kernel'], packages: ['jose'], reach: 'pure' },
  card: { folders: ['kernel'], packages: ['jose', 'canonicalize'], reach: 'pure', node: HASH },
  bindings: { folders: ['kernel'], reach: 'pure' },
  discovery: { folders: CORE, reach: 'pure' },
  egress: { folders: ['kernel', 'ports'], packages: ['undici'], reach: 'world', sockets: 'all' },
  // card: what a registry says is a stranger's JSON too, and is read by the one strict reader that there is.
  registry: { folders: ['kernel', 'ports', 'card'], reach: 'world' },
  store: { folders: ['kernel', 'ports'], packages: ['lru-cache'], reach: 'world' },
  observe: { folders: ['kernel', 'ports'], packages: ['pino', 'prom-client'], reach: 'world' },
  listen: { folders: ['kernel', 'ports', 'bindings', 'discovery:type'], reach: 'world', sockets: 'servers' },
  admin: { folders: ['kernel', 'ports', 'bindings', 'discovery:type'], reach: 'world' },
  config: { folders: ['kernel', 'policy:type'], packages: ['yaml'], reach: 'world' },
  // yaml: manifests are patched with their comments in place.
  cli: { folders: ['kernel', 'ports', 'config', 'card', 'bindings'], packages: ['yaml'], reach: 'world' },
  daemon: { folders: ALL, packages: ['pino'], reach: 'world', sockets: 'servers' },
  'fetch-once': {
    folders: ['daemon', 'cli:type', 'egress', 'kernel', 'ports:type', 'policy:type'],
    reach: 'world',
  },
  examine: { folders: ['daemon', 'cli:type', 'kernel', 'ports:type', 'policy:type'], reach: 'world' },
  'fetch-published': { folders: ['daemon', 'cli', 'config', 'kernel', 'ports:type', 'policy:type'], reach: 'world' },
  // observe and pino: the clock and stdout exist before there is a daemon to hold them.
  program: { folders: ['daemon', 'commands', 'cli', 'config', 'observe'], packages: ['pino'], reach: 'world' },
  // What must be done before the rest is loaded.
  main: { folders: ['daemon', 'program'], reach: 'world' },
  commands: { folders: ['daemon:type', 'examine', 'fetch-once', 'fetch-published', 'cli'], reach: 'world' },
};

/** Files that may do more than their folder, each for one reason. */
const EXCEPTIONS: Readonly<Record<string, Partial<Rule>>> = {
  // Commands talk to their own daemon, which no egress policy of that daemon concerns.
  'src/cli/admin-client.ts': { sockets: 'all' },
  // What is signed is base64url of a whole card: Node writes it in a step.
  'src/card/base64url.ts': { node: ['node:buffer'] },
  // What an origin is says one file, for policy, configuration and egress alike, and IDNA is part of it.
  'src/kernel/origins.ts': { node: ['node:url'] },
  'src/kernel/lookalike.ts': { node: ['node:url'] },
  // A list that says the same whoever asks, loaded when somebody does.
  'src/kernel/public-suffix.ts': { node: ['node:module'], packages: ['tldts'] },
  // Whether a socket file is a dead daemon's or a live one's is only known by knocking.
  'src/listen/socket-file.ts': { sockets: 'all' },
};

/** Functions of their arguments alone. */
const PURE_NAMES: Readonly<Record<string, readonly string[]>> = {
  'node:buffer': ['Buffer'],
  'node:crypto': ['constants', 'createHash', 'createPublicKey', 'hash', 'verify'],
  'node:module': ['createRequire'],
  'node:url': ['domainToASCII', 'domainToUnicode'],
};
const SERVERS = ['node:net', 'node:http', 'node:http2', 'node:tls'];
const DIALLERS = ['node:https', 'node:dns', 'node:dns/promises', 'node:dgram', 'node:inspector'];
const DIAL_NAMES = /(?<!type )\b(?:connect|createConnection|request|get|ClientRequest|Agent|Socket)\b/;
const DIAL_CALLS =
  /\b(?:net|tls|http|http2)\s*\.\s*(?:connect|createConnection|request|get)\b|\bnew\s+(?:\w+\.)?(?:Socket|ClientRequest|Agent)\b/;
/** After a name at the start of a line stands a method's declaration, like that of the Fetcher door. */
const DIAL_GLOBALS =
  /(?:[=(,:?&|]|\b(?:await|return|void|yield))\s*fetch\s*\(|(?<![.\w])(?:WebSocket|EventSource)\s*\(/;
/** Globals that read a clock, wait, draw lots or touch the process. */
const WORLD =
  /(?<![.\w'"-])(?:Date\s*[.(]|new\s+Date\b|(?:setTimeout|setInterval|setImmediate|queueMicrotask)\b|(?:process|console|performance|crypto|globalThis|Buffer)\s*\.|Math\s*\.\s*random|AbortSignal\s*\.\s*timeout)/;

/** Otherwise than as a constant of one name or of named parts, which is seen as an import. */
const HIDDEN_MODULE = /(?<!\bconst\s+(?:\w+|\{[^{}=]*\})\s*=\s*process\s*\.\s*)\bgetBuiltinModule\b/;

/** Tells what a source file at `src/…` does against the table. */
function breaches(file: string, source: string): readonly string[] {
  const area = areaOf(file);
  const rule = TABLE[area];
  if (rule === undefined) return ['no rule for this place'];
  const own = { ...rule, ...EXCEPTIONS[file] };
  return [...importBreaches(file, source, own), ...globalBreaches(withoutComments(source), own)];
}

function importBreaches(file: string, source: string, rule: Rule): readonly string[] {
  return importsOf(source).flatMap(({ from, kind, names }) => {
    if (from.startsWith('node:')) return nodeBreach(from, kind === 'type' ? '' : names, rule);
    if (!from.startsWith('.')) return rule.packages?.includes(packageOf(from)) ? [] : [`package ${from}`];
    const target = areaOf(path.posix.join(path.posix.dirname(file), from));
    if (target === areaOf(file) || rule.folders.includes(target)) return [];
    if (rule.folders.includes(`${target}:type`)) return kind === 'type' ? [] : [`value from ${target}`];
    return [`import of ${target}`];
  });
}

function nodeBreach(module: string, names: string, rule: Rule): readonly string[] {
  if (rule.reach === 'pure') return rule.node?.includes(module) && arePure(module, names) ? [] : [module];
  if (rule.sockets === 'all') return [];
  if (DIALLERS.includes(module)) return [module];
  if (!SERVERS.includes(module)) return [];
  if (rule.sockets === undefined) return names === '' ? [] : [module];
  return DIAL_NAMES.test(names) ? [`${module} to dial`] : [];
}

const arePure = (module: string, names: string): boolean =>
  /^\{[^{}]*\}$/.test(names.trim()) &&
  names.split(/[{},]/).every((name) => name.trim() === '' || PURE_NAMES[module]?.includes(name.trim()));

function globalBreaches(code: string, rule: Rule): readonly string[] {
  const world = rule.reach === 'pure' ? WORLD.exec(withoutNamed(code, rule)) : null;
  const dial = rule.sockets === 'all' ? null : (DIAL_CALLS.exec(code) ?? DIAL_GLOBALS.exec(code));
  const hidden = HIDDEN_MODULE.exec(code);
  return [world, dial, hidden].flatMap((found) => (found === null ? [] : [`use of ${found[0].replaceAll(/\s/g, '')}`]));
}

/** What a pure file may import is a function of its arguments there, though its name is a global's too. */
const withoutNamed = (code: string, rule: Rule): string =>
  rule.node?.includes('node:buffer') ? code.replaceAll(/\bBuffer\s*\./g, '') : code;

/** `src/http/etag.ts` → `http`, `src/daemon.ts` → `daemon`. */
const areaOf = (file: string): string => (file.split('/')[1] ?? '').replace(/\.ts$/, '');
const packageOf = (specifier: string): string => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');

const root = path.resolve(import.meta.dirname, '..');

describe('every source file keeps to the table', () => {
  const files = fs.globSync('src/**/*.ts', { cwd: root }).toSorted();
  test('and there are files', () => assert.ok(files.length > 50));
  for (const file of files) {
    test(file, () => assert.deepEqual(breaches(file, fs.readFileSync(path.join(root, file), 'utf8')), []));
  }
});

test('no file of a daemon imports node:http, which makes Node load a second undici; `listen/node-http.ts` asks for it by name', () => {
  const imports = (file: string) => importsOf(fs.readFileSync(path.join(root, file), 'utf8'));
  const loading = fs.globSync('src/**/*.ts', { cwd: root }).filter((file) => {
    const values = imports(file).filter(({ from, kind }) => from === 'node:http' && kind === 'value');
    return values.some(({ how }) => how === 'import');
  });
  assert.deepEqual(loading, ['src/cli/admin-client.ts']);
});

describe('the table can be broken', () => {
  const cases: readonly (readonly [file: string, source: string, breach: string | undefined])[] = [
    ['src/kernel/x.ts', `import type { A } from './a.ts';`, undefined],
    ['src/kernel/x.ts', `import type { Clock } from '../ports.ts';`, 'import of ports'],
    [
      'src/ports.ts',
      `import type { Ms } from './kernel/units.ts';\n  fetch(request: Request): Promise<Answer>;`,
      undefined,
    ],
    ['src/http/x.ts', `import { createHash } from 'node:crypto';`, undefined],
    ['src/http/x.ts', `import { createHash, randomUUID } from 'node:crypto';`, 'node:crypto'],
    ['src/kernel/origins.ts', `import { domainToASCII, domainToUnicode } from 'node:url';`, undefined],
    ['src/kernel/origins.ts', `import { fileURLToPath } from 'node:url';`, 'node:url'],
    ['src/kernel/x.ts', `import { domainToASCII, domainToUnicode } from 'node:url';`, 'node:url'],
    ['src/policy/x.ts', `import { createHash } from 'node:crypto';`, 'node:crypto'],
    ['src/http/x.ts', `import {\n  a,\n  b,\n} from '../store/memory.ts';`, 'import of store'],
    ['src/http/x.ts', `export { a } from '../policy/rules.ts';`, 'import of policy'],
    ['src/card/schema/x.ts', `import { a } from '../parse.ts';\nimport { b } from '../../kernel/ids.ts';`, undefined],
    ['src/card/x.ts', `import { decode } from 'jose/base64url';`, undefined],
    ['src/http/x.ts', `import { decode } from 'jose/base64url';`, 'package jose/base64url'],
    ['src/http/x.ts', `import '../daemon.ts';`, 'import of daemon'],
    ['src/http/x.ts', `const a = await import('../daemon.ts');`, 'import of daemon'],
    ['src/http/x.ts', `const now = Date.now();`, 'use of Date.'],
    ['src/http/x.ts', `const now = new Date();`, 'use of newDate'],
    ['src/http/x.ts', `// Date.now() is for others\nconst name = ['Date', 'x-process.y'];`, undefined],
    ['src/bindings/x.ts', `setTimeout(end, 5);`, 'use of setTimeout'],
    ['src/discovery/x.ts', `await doors.fetcher.fetch(target);`, undefined],
    ['src/discovery/x.ts', `await fetch(target);`, 'use of awaitfetch('],
    ['src/discovery/x.ts', `const on = process.env['X'];`, 'use of process.'],
    ['src/policy/x.ts', `const lot = Math.random();`, 'use of Math.random'],
    ['src/card/x.ts', `const text = Buffer.from(bytes);`, 'use of Buffer.'],
    ['src/card/x.ts', `import { Buffer } from 'node:buffer';`, 'node:buffer'],
    ['src/card/base64url.ts', `import { Buffer } from 'node:buffer';\nconst text = Buffer.from(bytes);`, undefined],
    ['src/card/base64url.ts', `import { Blob } from 'node:buffer';`, 'node:buffer'],
    ['src/card/base64url.ts', `const now = Date.now();`, 'use of Date.'],
    ['src/discovery/x.ts', `import { createFetcher } from '../egress/fetcher.ts';`, 'import of egress'],
    ['src/listen/x.ts', `import type { Handle } from '../discovery/handle.ts';`, undefined],
    ['src/listen/x.ts', `import { createHandle } from '../discovery/handle.ts';`, 'value from discovery'],
    ['src/listen/x.ts', `import http from 'node:http';\nhttp.createServer();`, undefined],
    ['src/listen/x.ts', `import http from 'node:http';\nhttp.get(url);`, 'use of http.get'],
    ['src/listen/x.ts', `const { createServer } = process.getBuiltinModule('node:http');`, undefined],
    ['src/listen/x.ts', `const { request } = process.getBuiltinModule('node:http');`, 'node:http to dial'],
    ['src/listen/x.ts', `const http = process.getBuiltinModule('node:http');\nhttp.get(url);`, 'use of http.get'],
    ['src/listen/x.ts', `process.getBuiltinModule('node:http').get(url);`, 'use of getBuiltinModule'],
    ['src/listen/x.ts', `const { getBuiltinModule } = process;`, 'use of getBuiltinModule'],
    ['src/store/x.ts', `const dns = process.getBuiltinModule('node:dns');`, 'node:dns'],
    ['src/listen/x.ts', `import { connect } from 'node:net';`, 'node:net to dial'],
    ['src/listen/x.ts', `import net, { type Socket } from 'node:net';\nconst open = new Set<net.Socket>();`, undefined],
    ['src/listen/x.ts', `import net from 'node:net';\nconst socket = new net.Socket();`, 'use of newnet.Socket'],
    ['src/config/x.ts', `import fs from 'node:fs';`, undefined],
    ['src/config/x.ts', `import { isIP } from 'node:net';`, 'node:net'],
    ['src/store/x.ts', `import dns from 'node:dns/promises';`, 'node:dns/promises'],
    ['src/store/x.ts', `import { request } from 'undici';`, 'package undici'],
    ['src/observe/x.ts', `await fetch(url);`, 'use of awaitfetch('],
    ['src/egress/x.ts', `import { connect } from 'node:tls';\nimport { Pool } from 'undici';`, undefined],
    ['src/cli/admin-client.ts', `import http from 'node:http';\nhttp.request(url);`, undefined],
    ['src/cli/kill.ts', `import { request } from 'node:http';`, 'node:http'],
    ['src/program.ts', `import { startDaemon } from './daemon.ts';`, undefined],
    ['src/program.ts', `import { parse } from './card/parse.ts';`, 'import of card'],
    ['src/utils/x.ts', ``, 'no rule for this place'],
  ];
  for (const [file, source, breach] of cases) {
    test(`${file}: ${source.replaceAll('\n', ' ')}`, () => {
      assert.deepEqual(breaches(file, source), breach === undefined ? [] : [breach]);
    });
  }
});
