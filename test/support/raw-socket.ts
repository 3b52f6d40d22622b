import { once } from 'node:events';
import net from 'node:net';

/** One connection that sends bytes as they are written and keeps what comes back. */
export class RawSocket {
  readonly #socket: net.Socket;
  readonly #ended: Promise<void>;
  #chunks: Buffer[] = [];
  #wake: () => void = () => undefined;
  /** How the connection ended: by FIN, by RST, or not at all. */
  end: 'open' | 'closed' | 'reset' = 'open';

  private constructor(socket: net.Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#chunks.push(chunk);
      this.#wake();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNRESET') this.end = 'reset';
    });
    this.#ended = new Promise((resolve) => {
      socket.once('end', () => {
        if (this.end === 'open') this.end = 'closed';
        this.#wake();
        resolve();
      });
      socket.once('close', () => {
        if (this.end === 'open') this.end = 'closed';
        this.#wake();
        resolve();
      });
    });
  }

  static async connect(port: number, host = '127.0.0.1'): Promise<RawSocket> {
    const socket = net.connect({ port, host, noDelay: true, allowHalfOpen: true });
    await once(socket, 'connect');
    return new RawSocket(socket);
  }

  /** What has come back, one character per byte. */
  get text(): string {
    return this.bytes.toString('latin1');
  }

  get bytes(): Buffer {
    const [only = Buffer.alloc(0), ...more] = this.#chunks;
    if (more.length === 0) return only;
    const whole = Buffer.concat(this.#chunks);
    this.#chunks = [whole];
    return whole;
  }

  get localPort(): number {
    return this.#socket.localPort ?? 0;
  }

  /** Writes latin-1 text or bytes; resolves when the system has them. */
  send(bytes: string | Buffer): Promise<void> {
    const chunk = typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes;
    return new Promise((resolve) => void this.#socket.write(chunk, () => resolve()));
  }

  /** Stops or starts reading. */
  pause(): void {
    this.#socket.pause();
  }
  resume(): void {
    this.#socket.resume();
  }

  /** Ends this side only. */
  finish(): void {
    this.#socket.end();
  }

  /** Goes away at once. */
  leave(): void {
    this.#socket.resetAndDestroy();
  }

  /** Resolves when the other side has ended or cut the connection. */
  ended(): Promise<void> {
    return this.#ended;
  }

  /** Resolves when what has come back satisfies the test, or the connection has ended. */
  async until(enough: (text: string) => boolean): Promise<string> {
    while (!enough(this.text) && this.end === 'open') {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.text;
  }

  /** Resolves to this many whole HTTP/1.1 responses, or those that came before the connection ended. */
  async responses(count: number, method?: string): Promise<readonly RawResponse[]> {
    await this.until((text) => parseResponses(text, method).length >= count);
    return parseResponses(this.text, method);
  }

  close(): void {
    this.#socket.destroy();
  }
}

export interface RawResponse {
  readonly status: number;
  /** Lower-case names; repeated lines joined by ", ". */
  readonly fields: ReadonlyMap<string, string>;
  readonly body: string;
}

/** Cuts bytes into whole HTTP/1.1 responses to one method; interim ones count too. Framing is by Content-Length or chunks. */
export function parseResponses(text: string, method = 'GET'): readonly RawResponse[] {
  const found: RawResponse[] = [];
  let rest = text;
  for (;;) {
    const next = parseOne(rest, method);
    if (next === undefined) return found;
    found.push(next.response);
    rest = next.rest;
  }
}

function parseOne(text: string, method: string): { response: RawResponse; rest: string } | undefined {
  const end = text.indexOf('\r\n\r\n');
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1];
  if (end === -1 || status === undefined) return undefined;
  const fields = new Map<string, string>();
  for (const line of text.slice(0, end).split('\r\n').slice(1)) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    fields.set(name, fields.has(name) ? `${fields.get(name)}, ${value}` : value);
  }
  const after = text.slice(end + 4);
  const response = { status: Number(status), fields };
  if (method === 'HEAD') return { response: { ...response, body: '' }, rest: after };
  if (fields.get('transfer-encoding') === 'chunked') return unchunk(after, response);
  const length = status.startsWith('1') || status === '304' ? 0 : Number(fields.get('content-length') ?? 0);
  if (after.length < length) return undefined;
  return { response: { ...response, body: after.slice(0, length) }, rest: after.slice(length) };
}

function unchunk(text: string, head: Omit<RawResponse, 'body'>): { response: RawResponse; rest: string } | undefined {
  let rest = text;
  let body = '';
  for (;;) {
    const line = rest.indexOf('\r\n');
    if (line === -1) return undefined;
    const size = Number.parseInt(rest.slice(0, line), 16);
    if (rest.length < line + 2 + size + 2) return undefined;
    body += rest.slice(line + 2, line + 2 + size);
    rest = rest.slice(line + 2 + size + 2);
    if (size === 0) return { response: { ...head, body }, rest };
  }
}
