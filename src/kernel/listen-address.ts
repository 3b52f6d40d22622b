/** Where a listener is opened: an address and a port, or a socket in the file system. */
export type ListenAddress = TcpAddress | SocketPath;

export interface TcpAddress {
  readonly kind: 'tcp';
  /** An address literal, IPv6 without brackets. */
  readonly host: string;
  /** 0 for one that the system picks. */
  readonly port: number;
}

export interface SocketPath {
  readonly kind: 'unix';
  /** Absolute. */
  readonly path: string;
}

/** Writes `127.0.0.1:8642`, `[::1]:8642`, `unix:/run/cardea/agents.sock`. */
export function formatAddress(address: ListenAddress): string {
  if (address.kind === 'unix') return `unix:${address.path}`;
  const { host, port } = address;
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
