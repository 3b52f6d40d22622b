import path from 'node:path';
import { loadConfig } from '../config/load.ts';
import type { AdminAddress } from './admin-client.ts';
import type { Io } from './command.ts';
import { inspectKeys } from './inspect-keys.ts';

/** What a command says about where the daemon is. */
export interface DaemonFlags {
  readonly config: string | null;
  readonly admin: string | null;
  readonly state: string | null;
  readonly 'token-file': string | null;
}

export const DAEMON_FLAGS = {
  config: { takes: 'FILE', doc: 'The configuration of the daemon; else cardea.yaml, then /etc/cardea/cardea.yaml.' },
  state: {
    takes: 'FOLDER',
    doc: 'Its state folder, where daemon.json and the token are; no configuration is read then.',
  },
  admin: { takes: 'ADDRESS', doc: 'Where its admin API is: ADDRESS:PORT or unix:/path; else as daemon.json says.' },
  'token-file': { takes: 'FILE', doc: 'The admin token; else admin-token in the state folder.' },
} as const;

/** Says where no daemon can be found, and what to do. */
export class NotFound extends Error {}

/** Finds the admin API of the running daemon. A configuration that is broken does not stand in the way of stopping it. */
export async function findAdmin(flags: DaemonFlags, io: Io): Promise<AdminAddress> {
  const folder = await stateFolder(flags, io);
  const address = flags.admin ?? (await noted(folder, io))?.admin;
  if (address === undefined) {
    throw new NotFound(
      `no daemon is noted in ${folder ?? 'any state folder'}; start one, or name it: --admin ADDRESS or --state FOLDER`,
    );
  }
  if (!/^(unix:.+|.+:\d{1,5})$/.test(address))
    throw new NotFound(`--admin ${address}: write ADDRESS:PORT or unix:/path`);
  return { address, token: address.startsWith('unix:') ? null : await readToken(flags, folder, io) };
}

/** Finds the listener for operators, which asks for no authority. */
export async function findOps(flags: DaemonFlags & { readonly ops: string | null }, io: Io): Promise<AdminAddress> {
  const address = flags.ops ?? (await noted(await stateFolder(flags, io), io))?.ops;
  if (address === undefined)
    throw new NotFound('no daemon is noted in the state folder; name its listener: --ops ADDRESS');
  return { address, token: null };
}

/** The folder that is named, or that the configuration names, or the usual one. Null where nothing is kept. */
async function stateFolder({ state, config: file }: DaemonFlags, io: Io): Promise<string | null> {
  const named = state ?? io.env['CARDEA_STATE'];
  if (named !== undefined && named !== '') return named === 'memory' ? null : path.resolve(io.cwd, named);
  const config = await loadConfig({ ...io, inspectKeys, file, flags: [] });
  if (!config.ok) return path.resolve(io.cwd, 'state');
  return config.settings.state.kept === 'folder' ? config.settings.state.path : null;
}

interface Noted {
  readonly admin: string | undefined;
  readonly ops: string | undefined;
}

/** What a running daemon has written down; undefined where there is none. */
async function noted(folder: string | null, io: Io): Promise<Noted | undefined> {
  const text = folder === null ? undefined : await readText(path.join(folder, 'daemon.json'), io);
  if (text === undefined) return undefined;
  try {
    const note: unknown = JSON.parse(text);
    return { admin: firstOf(note, 'admin'), ops: firstOf(note, 'ops') };
  } catch {
    return undefined;
  }
}

function firstOf(note: unknown, name: string): string | undefined {
  if (typeof note !== 'object' || note === null) return undefined;
  const list: unknown = Object.entries(note).find(([member]) => member === name)?.[1];
  const first: unknown = Array.isArray(list) ? list[0] : undefined;
  return typeof first === 'string' ? first : undefined;
}

async function readToken(flags: DaemonFlags, folder: string | null, io: Io): Promise<string> {
  const named = flags['token-file'];
  const file =
    named === null ? (folder === null ? null : path.join(folder, 'admin-token')) : path.resolve(io.cwd, named);
  const token = file === null ? undefined : (await readText(file, io))?.trim();
  if (token === undefined || !/^[\x21-\x7e]+$/.test(token)) {
    throw new NotFound(`no admin token can be read from ${file ?? 'a state folder'}; name it: --token-file FILE`);
  }
  return token;
}

async function readText(file: string, io: Io): Promise<string | undefined> {
  try {
    return new TextDecoder().decode(await io.readFile(file));
  } catch {
    return undefined;
  }
}
