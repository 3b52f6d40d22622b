import http from 'node:http';

/** An answer of the running daemon. */
export interface AdminReply {
  readonly status: number;
  readonly text: string;
}

/** Asks the running daemon; throws `Unreachable` where nothing answers. */
export type AdminAsk = (method: string, target: string, body?: object) => Promise<AdminReply>;

/** Where the daemon is: `127.0.0.1:8643`, `[::1]:8643` or `unix:/run/cardea/admin.sock`. */
export interface AdminAddress {
  readonly address: string;
  /** Null for a socket, whose mode is the authority, and for what needs none. */
  readonly token: string | null;
}

/** No daemon answers there. */
export class Unreachable extends Error {}

/** A refresh waits for an origin as long as `limits.response` lets it; this is longer than anyone sets that. */
const PATIENCE = 60_000;
/** A thousand receipts of the largest kind. */
const LARGEST = 32 * 1024 * 1024;

export function createAdminClient({ address, token }: AdminAddress): AdminAsk {
  const where = connectionOf(address);
  return (method, target, body) =>
    new Promise((resolve, reject) => {
      const content = body === undefined ? undefined : JSON.stringify(body);
      const unreachable = (error: Error): void =>
        reject(new Unreachable(`no answer at ${address}: ${reasonOf(error)}`, { cause: error }));
      const request = http.request(
        {
          ...where,
          method,
          path: target,
          agent: false,
          timeout: PATIENCE,
          headers: {
            ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
            ...(content === undefined
              ? {}
              : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(content) }),
          },
        },
        (response) =>
          void readWhole(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), unreachable),
      );
      request.on('timeout', () => request.destroy(new Error(`nothing within ${PATIENCE / 1_000} s`)));
      request.on('error', unreachable);
      request.end(content);
    });
}

function connectionOf(address: string): http.RequestOptions {
  if (address.startsWith('unix:')) return { socketPath: address.slice('unix:'.length), host: 'localhost' };
  const [, host = '', port] = /^(.*):(\d+)$/.exec(address) ?? [];
  const literal = host.startsWith('[') ? host.slice(1, -1) : host;
  // Whoever listens on every address is found on this machine's own.
  if (literal === '0.0.0.0') return { host: '127.0.0.1', port };
  return literal === '::' ? { host: '::1', port } : { host: literal, port };
}

async function readWhole(response: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response) {
    const bytes = chunk as Buffer;
    length += bytes.length;
    if (length > LARGEST) throw new Error('the answer has no end');
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function reasonOf(error: Error): string {
  const code = 'code' in error ? error.code : undefined;
  if (code === 'ECONNREFUSED' || code === 'ENOENT') return 'no daemon runs there';
  if (code === 'EACCES') return 'this user may not open the socket';
  return error.message;
}
