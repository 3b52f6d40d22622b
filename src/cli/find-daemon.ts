import path from 'node:path';
import { loadConfig } from '../config/load.ts';
import type { SecretRef } from '../kernel/secret.ts';
import { type ListenAddress, formatAddress } from '../kernel/listen-address.ts';
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
  const place = await findPlace(flags, io);
  const address = flags.admin ?? (await noted(place.folder, io))?.admin ?? place.admin;
  if (address === undefined) {
    const where = place.folder ?? 'any state folder';
    throw new NotFound(`no daemon is noted in ${where}; start one, or name it: --admin ADDRESS or --state FOLDER`);
  }
  if (!/^(unix:.+|.+:\d{1,5})$/.test(address))
    throw new NotFound(`--admin ${address}: write ADDRESS:PORT or unix:/path`);
  return { address, token: address.startsWith('unix:') ? null : await readToken(flags, place, io) };
}

/** Finds the listener for operators, which asks for no authority. */
export async function findOps(flags: DaemonFlags & { readonly ops: string | null }, io: Io): Promise<AdminAddress> {
  const place = await findPlace(flags, io);
  const address = flags.ops ?? (await noted(place.folder, io))?.ops ?? place.ops;
  if (address === undefined) {
    throw new NotFound('no daemon is noted in the state folder; name its listener: --ops ADDRESS');
  }
  return { address, token: null };
}

/** What is known of the daemon before it is asked. */
interface Place {
  /** The folder that is named, or that the configuration names, or the usual one; null where nothing is kept. */
  readonly folder: string | null;
  readonly token: SecretRef | null;
  /** Where the configuration says that it listens; undefined for a port that the daemon picks. */
  readonly admin: string | undefined;
  readonly ops: string | undefined;
}

async function findPlace({ state, config: file }: DaemonFlags, io: Io): Promise<Place> {
  const named = state ?? io.env['CARDEA_STATE'] ?? '';
  const config = state === null ? await loadConfig({ ...io, file, flags: [], inspectKeys }) : undefined;
  const unknown = { token: null, admin: undefined, ops: undefined };
  if (config?.ok !== true) {
    if (named === 'memory') return { folder: null, ...unknown };
    return { folder: path.resolve(io.cwd, named === '' ? 'state' : named), ...unknown };
  }
  const { settings } = config;
  return {
    folder: settings.state.kept === 'folder' ? settings.state.path : null,
    token: settings.admin.token,
    admin: addressOf(settings.listen.admin.address),
    ops: addressOf(settings.listen.ops.address),
  };
}

const addressOf = (address: ListenAddress): string | undefined =>
  address.kind === 'tcp' && address.port === 0 ? undefined : formatAddress(address);

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

async function readToken(flags: DaemonFlags, { folder, token: configured }: Place, io: Io): Promise<string> {
  const named = flags['token-file'];
  if (named === null && configured?.from === 'environment') {
    return checked(io.env[configured.name], `the variable ${configured.name}`);
  }
  const kept = folder === null ? null : path.join(folder, 'admin-token');
  const written = configured?.from === 'file' ? configured.path : kept;
  const file = named === null ? written : path.resolve(io.cwd, named);
  return checked(file === null ? undefined : await readText(file, io), file ?? 'a state folder');
}

function checked(content: string | undefined, from: string): string {
  const token = content?.trim();
  if (token !== undefined && /^[\x21-\x7e]+$/.test(token)) return token;
  throw new NotFound(`no admin token can be read from ${from}; name it: --token-file FILE`);
}

async function readText(file: string, io: Io): Promise<string | undefined> {
  try {
    return new TextDecoder().decode(await io.readFile(file));
  } catch {
    return undefined;
  }
}
