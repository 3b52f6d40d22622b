import { once } from 'node:events';
import type net from 'node:net';
import { formatAddress, type ListenAddress } from '../kernel/listen-address.ts';
import { clearSocket, listenOnSocket } from './socket-file.ts';

/** Where a listener is to be opened. */
export interface Place {
  /** Names the listener in messages. */
  readonly name: string;
  readonly address: ListenAddress;
}

/** Binds a server; resolves to where it is, throws an Error that says which listener cannot be opened, why, and what to change. */
export async function bind(server: net.Server, { name, address }: Place): Promise<ListenAddress> {
  const cannot = (error: unknown): Error =>
    new Error(`listener ${name}: cannot open ${formatAddress(address)}: ${reasonOf(error, address)}`, { cause: error });
  try {
    if (address.kind === 'unix') {
      await clearSocket(address.path);
      listenOnSocket(server, address.path);
    } else server.listen({ host: address.host, port: address.port });
    await once(server, 'listening');
  } catch (error) {
    throw cannot(error);
  }
  const bound = server.address();
  if (bound === null || typeof bound === 'string') return address;
  return { kind: 'tcp', host: bound.address, port: bound.port };
}

function reasonOf(error: unknown, { kind }: ListenAddress): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const known = kind === 'unix' ? SOCKET_REASONS : TCP_REASONS;
  return known.get(code) ?? (error instanceof Error ? error.message : String(error));
}

const TCP_REASONS: ReadonlyMap<unknown, string> = new Map([
  ['EADDRINUSE', 'the port is taken; stop the other program or choose another port'],
  ['EACCES', 'ports below 1024 need privileges; choose a higher port'],
  ['EADDRNOTAVAIL', 'this machine has no such address'],
  ['ENOTFOUND', 'the host has no address; write an IP address'],
]);

const SOCKET_REASONS: ReadonlyMap<unknown, string> = new Map([
  ['EADDRINUSE', 'another program has just opened it; stop it or choose another path'],
  ['EACCES', 'this user may not make files in its folder'],
  ['EPERM', 'this user may not make files in its folder'],
  ['EROFS', 'its folder is read-only'],
  ['ENOENT', 'its folder is not there; make it first'],
  ['ENOTDIR', 'a part of its path is no folder'],
]);
