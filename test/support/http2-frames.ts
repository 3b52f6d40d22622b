import type { RawSocket } from './raw-socket.ts';

/** HTTP/2 frames as bytes, for clients that no library would be (RFC 9113 §6). */
export const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';

export const TYPE = {
  data: 0,
  headers: 1,
  reset: 3,
  settings: 4,
  ping: 6,
  goaway: 7,
  window: 8,
  continuation: 9,
} as const;
export const END_STREAM = 0x1;
export const END_HEADERS = 0x4;

export function frame(type: number, flags: number, stream: number, payload: Buffer | string = ''): Buffer {
  const body = typeof payload === 'string' ? Buffer.from(payload, 'latin1') : payload;
  const head = Buffer.alloc(9);
  head.writeUIntBE(body.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, body]);
}

export const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

/** Field lines as HPACK literals without indexing: no compression to get wrong (RFC 7541 §6.2.2). */
export const fieldBlock = (lines: readonly (readonly [string, string])[]): Buffer =>
  Buffer.concat(lines.map(([name, value]) => Buffer.concat([Buffer.of(0), literal(name), literal(value)])));

/** The same, each put into the table that the other side keeps (RFC 7541 §6.2.1). */
export const indexedBlock = (lines: readonly (readonly [string, string])[]): Buffer =>
  Buffer.concat(lines.map(([name, value]) => Buffer.concat([Buffer.of(0x40), literal(name), literal(value)])));

function literal(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  return Buffer.concat([length(bytes.length), bytes]);
}

/** An integer with a 7-bit prefix (RFC 7541 §5.1). */
function length(value: number): Buffer {
  if (value < 127) return Buffer.of(value);
  const out = [127];
  for (let rest = value - 127; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...out, rest]);
    out.push((rest % 128) + 128);
  }
}

/** The pseudo-fields of a GET, with others in their place or behind them. */
export const getLines = (more: Readonly<Record<string, string>> = {}): readonly (readonly [string, string])[] => {
  const pseudo = { ':method': 'GET', ':scheme': 'http', ':authority': 'localhost', ':path': '/', ...more };
  return Object.entries(pseudo);
};

export const request = (stream: number, lines = getLines(), flags = END_STREAM | END_HEADERS): Buffer =>
  frame(TYPE.headers, flags, stream, fieldBlock(lines));

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** Cuts what has come back into whole frames. */
export function framesOf({ bytes }: RawSocket): readonly Frame[] {
  const frames: Frame[] = [];
  for (let at = 0; at + 9 <= bytes.length; ) {
    const size = bytes.readUIntBE(at, 3);
    if (at + 9 + size > bytes.length) break;
    const payload = bytes.subarray(at + 9, at + 9 + size);
    frames.push({ type: bytes[at + 3] ?? 0, flags: bytes[at + 4] ?? 0, stream: bytes.readUInt32BE(at + 5), payload });
    at += 9 + size;
  }
  return frames;
}

/** The error code that a stream was reset with, or the connection (stream 0) was ended with. */
export function errorOf(socket: RawSocket, stream: number): number | undefined {
  for (const { type, stream: on, payload } of framesOf(socket)) {
    if (stream === 0 && type === TYPE.goaway) return payload.readUInt32BE(4);
    if (stream !== 0 && type === TYPE.reset && on === stream) return payload.readUInt32BE(0);
  }
  return undefined;
}

/** True once a stream has been answered with a head. */
export const isAnswered = (socket: RawSocket, stream: number): boolean =>
  framesOf(socket).some((each) => each.type === TYPE.headers && each.stream === stream);
