// The image's first process. It becomes Node once more, with the permission model on and exactly these grants, so that the daemon has
// this process's pid, gets every signal itself, and its exit code is the container's.
//
// More to read, for one container:  NODE_OPTIONS=--allow-fs-read=/mnt/keys
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const app = fileURLToPath(new URL('.', import.meta.url)).replace(/\/$/, '');

/** Read, besides itself: configuration, pins and the kill file (each a folder /etc/cardea…), mounted secrets, certificates. */
const READ = [app, '/etc/cardea*', '/run/secrets/*', '/var/run/secrets/*', '/etc/ssl/*'];
/** Its own memory and open files, for the metrics. */
const SELF = ['/proc/self/stat', '/proc/self/status', '/proc/self/fd'];
/** Written, and read: the state. */
const STATE = '/var/lib/cardea/*';

const grants = [
  ...[...READ, ...SELF, STATE].map((path) => `--allow-fs-read=${path}`),
  `--allow-fs-write=${STATE}`,
  // The ledger writes on a thread of its own; what is granted here holds there too.
  '--allow-worker',
  // From Node 25 on the network is a grant of its own; Node 24 knows no such flag and ends where it is given one.
  ...(process.allowedNodeEnvironmentFlags.has('--allow-net') ? ['--allow-net'] : []),
];
// What warns here is that grants were given, on each start.
const quiet = ['--disable-warning=SecurityWarning', '--disable-warning=ExperimentalWarning'];
// The young generation has a bound, and nothing is born old (docs/decisions/0006-the-young-generation.md, 0008-nothing-is-born-old.md): the
// same flags as in bin/cardea.
const flags = ['--permission', ...grants, ...quiet, '--max-semi-space-size=16', '--no-allocation-site-pretenuring'];
// One pool of memory for all threads (docs/decisions/0007-one-arena.md), unless somebody asked for more: the same as in bin/cardea.
const env = { MALLOC_ARENA_MAX: '1', ...process.env };

process.execve(process.execPath, [process.execPath, ...flags, `${app}/dist/main.js`, ...process.argv.slice(2)], env);
