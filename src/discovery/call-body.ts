import { type RpcHead, type RpcScan, scanRpc } from '../bindings/json-rpc-head.ts';
import type { RpcId } from '../bindings/operation.ts';
import type { ByteStream } from '../kernel/fields.ts';
import { RefusalError, refuse } from '../kernel/refusal.ts';

/** The head of a JSON-RPC request, and a way to its whole body. */
export interface ReadHead {
  readonly head: RpcHead;
  readonly wrong: string | undefined;
  /** Gives the body from its first byte; once, unless it is whole. */
  readonly body: () => ByteStream;
  /** True where all of it is here, so that it can be given again. */
  readonly whole: boolean;
  /**
   * Reads on for the id of a request that is refused, for SDKs write it behind the message. Null where none is found; what was read is
   * gone. Never rejects.
   */
  readonly lateId: () => Promise<RpcId>;
}

/** Method and tenant stand before the message in what SDKs write; a message with a file in it is not held for their sake. */
const LONGEST_HELD = 64 * 1024;

/**
 * Reads as much of a JSON-RPC request as tells where it goes. What follows is watched while it passes: a second method or a late
 * tenant breaks it off, so that nobody gets a call to the origin that was judged as another.
 */
export async function readRpc(given: ByteStream | null): Promise<ReadHead> {
  const scan = scanRpc();
  const rest = given?.[Symbol.asyncIterator]();
  const { held, whole } = rest === undefined ? NOTHING : await readAhead(rest, scan);
  const head = scan.head();
  const wrong = scan.wrong() ?? (whole && !scan.complete() ? 'it ends before its end' : undefined);
  const mayName = (tenant: string): boolean => tenant === head.tenant;
  const left = whole ? undefined : rest;
  const body = (): ByteStream => pass(held, left, { scan, mayName });
  return { head, wrong, whole, body, lateId: () => readOn(left, scan) };
}

/** A longer message is a file, and its sender waits for an answer. */
const LONGEST_REFUSED = 1_048_576;

async function readOn(rest: AsyncIterator<Uint8Array> | undefined, scan: RpcScan): Promise<RpcId> {
  if (rest === undefined) return scan.head().id;
  let length = 0;
  try {
    while (scan.head().id === null && scan.wrong() === undefined && length <= LONGEST_REFUSED) {
      const next = await rest.next();
      if (next.done === true) break;
      scan.feed(next.value);
      length += next.value.length;
    }
  } catch {
    // Whoever has left needs no id.
  }
  return scan.head().id;
}

/** What an HTTP+JSON body is to its reader. */
export type ReadMessage = Omit<ReadHead, 'head' | 'lateId'> & {
  /** True where it names another tenant than the path does. */
  readonly strays: boolean;
};

/**
 * Reads an HTTP+JSON body, which is what stands in a JSON-RPC request's params: servers take a tenant from it as well as from the path.
 * @param tenant the path's; the body may name it or none.
 */
export async function readMessage(body: ByteStream, tenant: string): Promise<ReadMessage> {
  const scan = scanRpc();
  scan.feed(BEFORE_PARAMS);
  const rest = body[Symbol.asyncIterator]();
  const { held, whole } = await readAhead(rest, scan);
  const mayName = (named: string): boolean => named === '' || named === tenant;
  return {
    strays: !mayName(scan.head().tenant),
    wrong: scan.wrong(),
    whole,
    body: () => pass(held, whole ? undefined : rest, { scan, mayName }),
  };
}

const BEFORE_PARAMS = new TextEncoder().encode('{"method":"","params":');

const NOTHING = { held: [], whole: true } as const;

interface Ahead {
  readonly held: readonly Uint8Array[];
  readonly whole: boolean;
}

/** Reads until the end, the bound, or what makes the rest of no interest. */
async function readAhead(rest: AsyncIterator<Uint8Array>, scan: RpcScan): Promise<Ahead> {
  const held: Uint8Array[] = [];
  let length = 0;
  while (length <= LONGEST_HELD && scan.wrong() === undefined) {
    const next = await rest.next();
    if (next.done === true) return { held, whole: true };
    scan.feed(next.value);
    held.push(next.value);
    length += next.value.length;
  }
  return { held, whole: false };
}

interface Judged {
  readonly scan: RpcScan;
  readonly mayName: (tenant: string) => boolean;
}

async function* pass(
  held: readonly Uint8Array[],
  rest: AsyncIterator<Uint8Array> | undefined,
  { scan, mayName }: Judged,
): ByteStream {
  yield* held;
  if (rest === undefined) return;
  try {
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) {
      scan.feed(next.value);
      const wrong = scan.wrong() ?? (mayName(scan.head().tenant) ? undefined : 'its tenant stands after its message');
      if (wrong !== undefined) throw new RefusalError(refuse('bad-request', `The request was broken off: ${wrong}.`));
      yield next.value;
    }
  } finally {
    await rest.return?.();
  }
}
