import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

/** The image's root without a container engine: laid out by the Dockerfile's own script, run by bubblewrap. */

const root = path.resolve(import.meta.dirname, '../..');
/** The image's user. */
const USER = 65_532;

/** Lays the root out in a folder, with what a distroless base has: the libraries that Node is linked to. */
export function layOut(folder: string): void {
  execFileSync(process.execPath, [path.join(root, 'scripts/image-root.mjs'), folder], { stdio: 'inherit' });
  const linked = execFileSync('ldd', [path.join(folder, 'usr/local/bin/node')], { encoding: 'utf8' });
  for (const [library] of linked.matchAll(/(?<=\s)\/\S+(?= \()/g)) {
    fs.mkdirSync(path.join(folder, path.dirname(library)), { recursive: true });
    fs.copyFileSync(library, path.join(folder, library));
  }
  for (const mount of ['proc', 'dev']) fs.mkdirSync(path.join(folder, mount));
}

/** What is mounted over the read-only root, as the sidecar mounts it. */
export interface Mounts {
  readonly root: string;
  readonly config: string;
  readonly state: string;
  /** A folder that is mounted as /etc/cardea-kill. */
  readonly kill: string;
}

/** A container that runs. */
export interface Container {
  /** The first line on its standard output. */
  readonly started: Started;
  /** The daemon's pid here; inside it is 1. */
  readonly pid: number;
  /** What it has written on both outputs so far. */
  readonly output: () => string;
  /** Sends it a signal; resolves to its exit code. */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

export interface Started {
  readonly pid: number;
  readonly agents: readonly [string];
  readonly ops: readonly [string];
}

/** Starts the image's entry point with its default command, and waits until everything is open. */
export async function startContainer(mounts: Mounts): Promise<Container> {
  const child = spawn('bwrap', [...box(mounts), ...entry(), 'serve', '--config', '/etc/cardea/cardea.yaml'], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    ...asUser(),
  });
  let written = '';
  child.stderr?.on('data', (chunk: Buffer) => (written += chunk.toString()));
  child.stdout?.on('data', (chunk: Buffer) => (written += chunk.toString()));
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const failed = exited.then((code): never => {
    throw new Error(`it ended with ${String(code)}: ${written}`);
  });
  const info = JSON.parse(await wholeText(child.stdio[3] as Readable)) as { readonly 'child-pid': number };
  const started = await Promise.race([startLine(child), failed]);
  failed.catch(() => undefined);
  const pid = info['child-pid'];
  return {
    started,
    pid,
    output: () => written,
    end(signal) {
      process.kill(pid, signal);
      return exited;
    },
  };
}

/** Runs another command of the image beside the daemon, as an exec probe does. */
export function runInContainer(
  mounts: Mounts,
  args: readonly string[],
): { readonly code: number | null; readonly out: string } {
  const { status, stdout, stderr } = spawnSync('bwrap', [...box(mounts).slice(2), ...entry(), ...args], {
    encoding: 'utf8',
    ...asUser(),
  });
  return { code: status, out: stdout + stderr };
}

/** The Dockerfile's ENTRYPOINT. */
export function entry(): readonly string[] {
  const dockerfile = fs.readFileSync(path.join(root, 'Dockerfile'), 'utf8');
  const [, list = ''] = /^ENTRYPOINT (\[.*\])$/m.exec(dockerfile) ?? [];
  return JSON.parse(list) as string[];
}

/** A read-only root, the mounts of the sidecar, its environment, no other process in sight; the network is the machine's. */
function box({ root: image, config, state, kill }: Mounts): string[] {
  const env = {
    CARDEA_STATE: '/var/lib/cardea/state',
    CARDEA_LISTEN_ADMIN: 'unix:/var/lib/cardea/state/admin.sock',
    CARDEA_KILL_FILE: '/etc/cardea-kill/KILL',
    NODE_ENV: 'production',
  };
  const apart = '--unshare-user --unshare-pid --as-pid-1 --unshare-ipc --die-with-parent --clearenv';
  return [
    ...`--info-fd 3 ${apart} --uid ${USER} --gid ${USER} --ro-bind ${image} / --proc /proc --dev /dev`.split(' '),
    ...`--ro-bind ${config} /etc/cardea --ro-bind ${kill} /etc/cardea-kill --bind ${state} /var/lib/cardea --chdir /app`.split(
      ' ',
    ),
    ...Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value]),
  ];
}

/** Where the test is root it becomes the image's user for good; elsewhere that user is a name for whoever runs it. */
const asUser = (): { readonly uid?: number; readonly gid?: number } =>
  process.getuid?.() === 0 ? { uid: USER, gid: USER } : {};

/** Makes a folder that the image's user may look into, and owns where it is to write. */
export function makeMount(folder: string, owned: boolean): string {
  fs.mkdirSync(folder, { recursive: true, mode: 0o755 });
  if (owned && process.getuid?.() === 0) fs.chownSync(folder, USER, USER);
  return folder;
}

async function startLine(child: ChildProcess): Promise<Started> {
  for await (const line of createInterface({ input: child.stdout as Readable })) {
    if (line.includes('"msg":"started"')) return JSON.parse(line) as Started;
  }
  return new Promise(() => undefined); // its end is told by whoever waits for it
}

async function wholeText(stream: Readable): Promise<string> {
  let text = '';
  for await (const chunk of stream) {
    text += String(chunk);
    if (text.includes('}')) break;
  }
  return text;
}
