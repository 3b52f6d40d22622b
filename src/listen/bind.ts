import { once } from 'node:events';
import type net from 'node:net';

/** Where a listener is to be opened. */
export interface Place {
  /** Names the listener in messages. */
  readonly name: string;
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
}

/** Binds a server; resolves to where it is, throws an Error that says which listener cannot be opened, why, and what to change. */
export async function bind(server: net.Server, place: Place): Promise<{ address: string; port: number }> {
  const { name, host, port } = place;
  server.listen({ host, port });
  try {
    await once(server, 'listening');
  } catch (error) {
    const at = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
    throw new Error(`listener ${name}: cannot open ${at}: ${reasonOf(error)}`, { cause: error });
  }
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error(`listener ${name}: has no port`);
  return { address: bound.address, port: bound.port };
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') return 'the port is taken; stop the other program or choose another port';
  if (code === 'EACCES') return 'ports below 1024 need privileges; choose a higher port';
  if (code === 'EADDRNOTAVAIL') return 'this machine has no such address';
  if (code === 'ENOTFOUND') return 'the host has no address; write an IP address';
  return error instanceof Error ? error.message : String(error);
}
