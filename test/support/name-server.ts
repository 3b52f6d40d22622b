import { createSocket } from 'node:dgram';
import { type AddressInfo, type Socket, createServer } from 'node:net';

/** One record of an answer: an address, or a CNAME to this name; the records after it belong to that name. */
export type Resource =
  | { readonly ttl: number; readonly a: string }
  | { readonly ttl: number; readonly aaaa: string }
  | { readonly ttl: number; readonly cname: string };

/** What the test answers: `turn` counts the questions of one type, from 1. */
export type Script = (name: string, turn: number, type: 'A' | 'AAAA') => readonly Resource[];

export interface NameServerOptions {
  /** Says over UDP that the answer did not fit, so that the question comes again over TCP. */
  readonly truncates?: boolean;
  /** Also answers AAAA by the script; else with nothing. */
  readonly both?: boolean;
}

export interface NameServer {
  /** `127.0.0.1:PORT` */
  readonly server: string;
  /** `udp A weather.example.test` for every question, in order. */
  readonly asked: readonly string[];
  /** How many questions for A records were answered by the script. */
  turns(): number;
  close(): void;
}

const TYPES: ReadonlyMap<number, 'A' | 'AAAA'> = new Map([
  [1, 'A'],
  [28, 'AAAA'],
]);
const TRUNCATED = 0x0200;

/** Starts a name server on loopback, UDP and TCP on one port, whose answers a test writes. */
export async function startNameServer(script: Script, options: NameServerOptions = {}): Promise<NameServer> {
  const asked: string[] = [];
  const turns = { A: 0, AAAA: 0 };
  const answer = (query: Buffer, transport: 'udp' | 'tcp'): Buffer => {
    const end = query.indexOf(0, 12) + 5;
    const question = query.subarray(12, end);
    const name = nameIn(question);
    const type = TYPES.get(query.readUInt16BE(end - 4));
    asked.push(`${transport} ${type ?? 'other'} ${name}`);
    if (transport === 'udp' && options.truncates === true) return message(query, question, { flags: TRUNCATED });
    if (type === undefined || (type === 'AAAA' && options.both !== true)) return message(query, question, {});
    return message(query, question, { records: script(name, (turns[type] += 1), type) });
  };
  const sockets = new Set<Socket>();
  const tcp = createServer((socket) => {
    sockets.add(socket.once('close', () => sockets.delete(socket)).on('error', () => {}));
    readMessages(socket, (query) => {
      const reply = answer(query, 'tcp');
      socket.write(Buffer.concat([uint16(reply.length), reply]));
    });
  });
  await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve));
  const { port } = tcp.address() as AddressInfo;
  const udp = createSocket('udp4');
  udp.on('message', (query, from) => udp.send(answer(query, 'udp'), from.port, from.address));
  await new Promise<void>((resolve) => udp.bind(port, '127.0.0.1', resolve));
  return {
    server: `127.0.0.1:${port}`,
    asked,
    turns: () => turns.A,
    close: () => {
      udp.close();
      tcp.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Over TCP each message has its length before it — RFC 1035 §4.2.2. */
function readMessages(socket: Socket, heard: (query: Buffer) => void): void {
  let held = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    held = Buffer.concat([held, chunk]);
    while (held.length >= 2 && held.length >= 2 + held.readUInt16BE(0)) {
      const length = held.readUInt16BE(0);
      heard(held.subarray(2, 2 + length));
      held = held.subarray(2 + length);
    }
  });
}

const uint16 = (value: number): Buffer => Buffer.from([value >> 8, value & 0xff]);
const uint32 = (value: number): Buffer => Buffer.concat([uint16(value >>> 16), uint16(value & 0xffff)]);

const wireName = (name: string): Buffer =>
  Buffer.concat([
    ...name.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label)])),
    Buffer.from([0]),
  ]);

function nameIn(question: Buffer): string {
  const labels: string[] = [];
  for (let at = 0; (question[at] ?? 0) > 0; at += 1 + (question[at] ?? 0)) {
    labels.push(question.subarray(at + 1, at + 1 + (question[at] ?? 0)).toString());
  }
  return labels.join('.');
}

interface Reply {
  readonly flags?: number;
  readonly records?: readonly Resource[];
}

/** A whole answer: header, the question again, the records, each under the name that the one before leads to. */
function message(query: Buffer, question: Buffer, { flags = 0, records = [] }: Reply): Buffer {
  const header = Buffer.concat([
    query.subarray(0, 2),
    uint16(0x8180 | flags),
    uint16(1),
    uint16(records.length),
    Buffer.alloc(4),
  ]);
  let owner: Buffer = Buffer.from([0xc0, 12]);
  const answers = records.map((record) => {
    const { type, data } = wireData(record);
    const wire = Buffer.concat([owner, uint16(type), uint16(1), uint32(record.ttl), uint16(data.length), data]);
    if ('cname' in record) owner = data;
    return wire;
  });
  return Buffer.concat([header, question, ...answers]);
}

function wireData(record: Resource): { readonly type: number; readonly data: Buffer } {
  if ('cname' in record) return { type: 5, data: wireName(record.cname) };
  if ('a' in record) return { type: 1, data: Buffer.from(record.a.split('.').map(Number)) };
  const groups = new URL(`http://[${record.aaaa}]/`).hostname.slice(1, -1).split('::');
  const [left = [], right = []] = groups.map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = Array<string>(8 - left.length - right.length).fill('0');
  const all = [...left, ...zeros, ...right].map((group) => uint16(Number.parseInt(group, 16)));
  return { type: 28, data: Buffer.concat(all) };
}
