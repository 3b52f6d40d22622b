import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { isThere, versionOf } from './machine.ts';
import { ROOT } from './places.ts';
import type { Scratch } from './scratch.ts';
import { type Command, start } from './server.ts';

/** The caches that Debian has, each as a reverse proxy with one worker, a cache in memory (nginx: files) and no log. */

export interface Peer {
  readonly name: string;
  readonly version: string;
  readonly pid: number;
  readonly port: number;
}

/** Where it is to listen, what it stands before, and its own folder. */
interface Place {
  readonly port: number;
  readonly originPort: number;
  readonly folder: string;
}

interface Recipe {
  readonly program: string;
  readonly debianPackage: string;
  readonly version: readonly string[];
  /** Writes its configuration and says how it is started. */
  readonly prepare: (place: Place) => Command;
}

/** The name with `h2c` speaks cleartext HTTP/2. */
export type PeerName = 'nginx' | 'nginx h2c' | 'HAProxy' | 'Varnish' | 'Traffic Server' | 'Squid';

const nginx = (h2: string): Recipe => ({
  program: 'nginx',
  debianPackage: 'nginx',
  version: ['-v'],
  prepare(place) {
    fs.mkdirSync(path.join(place.folder, 'cache'), { mode: 0o777 });
    const log = path.join(place.folder, 'error.log');
    return { line: ['nginx', '-c', configure('nginx.conf', place, h2), '-e', log] };
  },
});

const RECIPES: Readonly<Record<PeerName, Recipe>> = {
  nginx: nginx(''),
  'nginx h2c': nginx(' http2'),
  HAProxy: {
    program: 'haproxy',
    debianPackage: 'haproxy',
    version: ['-v'],
    prepare: (place) => ({ line: ['haproxy', '-db', '-f', configure('haproxy.cfg', place)] }),
  },
  Varnish: {
    program: 'varnishd',
    debianPackage: 'varnish',
    version: ['-V'],
    prepare(place) {
      const where = ['-n', path.join(place.folder, 'n'), '-a', `127.0.0.1:${place.port}`, '-T', 'none'];
      return {
        line: ['varnishd', '-F', '-j', 'none', ...where, '-f', configure('varnish.vcl', place), '-s', 'malloc,256M'],
      };
    },
  },
  'Traffic Server': {
    program: 'traffic_server',
    debianPackage: 'trafficserver',
    version: ['-V'],
    prepare(place) {
      return { line: ['traffic_server'], env: { TS_RUNROOT: layOutTrafficServer(place) } };
    },
  },
  Squid: {
    program: 'squid',
    debianPackage: 'squid',
    version: ['-v'],
    prepare: (place) => ({ line: ['squid', '-N', '-f', configure('squid.conf', place)] }),
  },
};

/** Starts a peer before an origin; undefined, with a line that says how to get it, where it is not installed. */
export async function startPeer(name: PeerName, originPort: number, scratch: Scratch): Promise<Peer | undefined> {
  const { program, debianPackage, version, prepare } = RECIPES[name];
  if (!isThere(program, debianPackage)) return undefined;
  const folder = scratch.file(name.replaceAll(' ', '-'));
  fs.mkdirSync(folder);
  fs.chmodSync(folder, 0o777); // some drop their rights
  const port = await freePort();
  const { pid } = await start({ ...prepare({ port, originPort, folder }), port }, scratch);
  return { name, version: versionOf(program, version), pid, port };
}

/** Fills in a file of bench/peers; the path of what was written. */
function configure(file: string, { port, originPort, folder }: Place, h2 = ''): string {
  const filled = { '@PORT@': String(port), '@ORIGIN@': String(originPort), '@DIR@': folder, '@H2@': h2 };
  let text = fs.readFileSync(path.join(ROOT, 'bench/peers', file), 'utf8');
  for (const [mark, value] of Object.entries(filled)) text = text.replaceAll(mark, value);
  const written = path.join(folder, file);
  fs.writeFileSync(written, text);
  return written;
}

/** Traffic Server wants a tree of its own; what of Debian's configuration is not about this is left as it is. */
function layOutTrafficServer(place: Place): string {
  const { folder } = place;
  const own = ['etc', 'cache', 'var', 'run', 'log'].map((name) => path.join(folder, name));
  const [etc = '', cache = '', local = '', run = '', log = ''] = own;
  for (const each of own) fs.mkdirSync(each);
  fs.cpSync('/etc/trafficserver', etc, { recursive: true });
  fs.renameSync(configure('ats-records.config', place), path.join(etc, 'records.config'));
  fs.writeFileSync(path.join(etc, 'remap.config'), `map / http://127.0.0.1:${place.originPort}/\n`);
  fs.writeFileSync(path.join(etc, 'storage.config'), `${cache} 256M\n`);
  const lines = {
    prefix: folder,
    exec_prefix: folder,
    bindir: '/usr/bin',
    sbindir: '/usr/sbin',
    sysconfdir: etc,
    datadir: cache,
    includedir: '/usr/include',
    libdir: '/usr/lib/trafficserver',
    libexecdir: '/usr/lib/trafficserver/modules',
    localstatedir: local,
    runtimedir: run,
    logdir: log,
    cachedir: cache,
  };
  const root = path.join(folder, 'runroot.yaml');
  fs.writeFileSync(
    root,
    Object.entries(lines)
      .map(([name, value]) => `${name}: ${value}\n`)
      .join(''),
  );
  for (const each of [...own, root]) openUp(each);
  return root;
}

/** Its user is another one. */
function openUp(file: string): void {
  fs.chmodSync(file, 0o777);
  if (!fs.statSync(file).isDirectory()) return;
  for (const name of fs.readdirSync(file)) openUp(path.join(file, name));
}

/** A port that nobody listened on a moment ago. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = net.createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(address === null || typeof address === 'string' ? 0 : address.port));
    });
  });
}
