import type { Answer } from '../kernel/answer.ts';
import type { Fields } from '../kernel/fields.ts';
import type { Peer } from '../kernel/peer.ts';
import type { EpochMs } from '../kernel/units.ts';
import type { AskContext, Received } from './ask.ts';
import type { Exchange } from './exchange.ts';
import { tooLong } from './request-fields.ts';
import { createSeal } from './seal.ts';

/**
 * Answers that the same request gets again, by raw target: it is neither read nor routed anew. The same is a request with the same
 * method, the same field names, and the same values of all fields that were read when it was answered, however the others differ. Of a
 * request with a credential it is the target and the credential together, by their seal: what was shown is not kept to be compared with.
 */
export interface StandingAnswers {
  /** Finds what a request would get if it was read and handled; undefined where that must be done to know. */
  find(exchange: Exchange, context: AskContext, now: EpochMs): Known | undefined;
  /** The same for a request whose head came in bytes that are known, on a connection that says nothing of its client. */
  findHead(head: string, context: AskContext, localAddress: string | undefined, now: EpochMs): Known | undefined;
  /** Remembers in which bytes a request came, where its head may be kept; any other trace may stand in them. */
  keepHead(head: string, known: Known): void;
  /** Remembers what a request got, where that stands for more than this one. */
  keep(ask: Received, answer: Answer, now: EpochMs): void;
}

/** Targets and shapes of requests that are remembered at one time. */
const MOST_TARGETS = 1_024;
const MOST_SHAPES = 4;
/** Bytes of heads and bodies that they hold, each body as it came, as text and as one piece with its head. */
const MOST_BYTES = 8 * 1024 * 1024;

/** A request that was answered, as far as another one can be the same. */
export interface Known {
  readonly context: AskContext;
  readonly peer: Peer;
  readonly localAddress: string | undefined;
  readonly method: string;
  readonly version: string;
  readonly names: readonly string[];
  /** Where the values stand that count, and these values. */
  readonly places: readonly number[];
  readonly values: readonly (string | undefined)[];
  /** True where the bytes of its head may be remembered: as they stand, or by their seal with a credential. */
  readonly mayKeepHead: boolean;
  readonly answer: Answer;
}

/** Read of every request before anybody is asked. */
const ALWAYS_READ: readonly string[] = ['host', 'content-length', 'transfer-encoding', ':authority', ':scheme'];
/** What stands there is remembered nowhere, and what it allows ends by itself. */
const SECRET: readonly string[] = ['authorization', 'proxy-authorization', 'cookie'];
/** The same where an answer says itself whether the credential that it was given for is still good. */
const SECRET_BESIDE: readonly string[] = ['proxy-authorization', 'cookie'];
const CREDENTIAL = 'authorization';
const WITH_CREDENTIAL = /\nauthorization[ \t]*:/i;
/** Says which step of a trace a request is, another one each time (W3C Trace Context §3.2): of its alphabet and length, it means nothing here. */
const TRACED = /\r\ntraceparent: [0-9a-f-]{55}\r\n/i;
const UNTRACED = '\r\ntraceparent: \r\n';
const TRACE = 'traceparent';
/** Fields that hold no credential, whoever sends them, and mostly the same each time: a head with others is not kept. */
const PLAIN: ReadonlySet<string> = new Set(
  `host user-agent accept accept-encoding accept-language cache-control pragma connection if-none-match if-modified-since range
  a2a-version a2a-extensions priority sec-fetch-mode sec-fetch-site sec-fetch-dest`.split(/\s+/),
);

/**
 * Floor: one look-up, one comparison for each field name and each value that counts, and whether the answer still holds; with a
 * credential one hash more.
 * @param isRepeated true for an answer that was given before: what is asked once in a while is not worth remembering.
 */
export function createStandingAnswers(isRepeated: (answer: Answer) => boolean): StandingAnswers {
  const known = new Map<string, readonly Known[]>();
  const heads = new Map<string, Known>();
  const seal = createSeal();
  /** A target has no space in it. */
  const keyOf = ({ url = '', rawHeaders }: Exchange['request']): string => {
    const credential = credentialOf(rawHeaders);
    return credential === undefined ? url : seal(`${url} ${credential}`);
  };
  const keyOfHead = (head: string): string => {
    const untraced = head.replace(TRACED, UNTRACED);
    return WITH_CREDENTIAL.test(head) ? seal(untraced) : untraced;
  };
  let [second, bytes] = [0, 0];
  const forget = (): void => {
    known.clear();
    heads.clear();
    bytes = 0;
  };
  return {
    find(exchange, context, now) {
      if (exchange.expects !== 'nothing') return undefined;
      const same = known.get(keyOf(exchange.request))?.find((each) => isSame(each, exchange, context));
      return same?.answer.holds?.(now) === true ? same : undefined;
    },
    findHead(head, context, localAddress, now) {
      const same = heads.get(head) ?? (isAltered(head) ? heads.get(keyOfHead(head)) : undefined);
      if (same?.context !== context || same.localAddress !== localAddress) return undefined;
      return same.answer.holds?.(now) === true ? same : undefined;
    },
    keepHead(head, same) {
      if (heads.size >= MOST_TARGETS) return;
      bytes += head.length;
      heads.set(keyOfHead(head), same);
    },
    keep(ask, answer, now) {
      if (answer.holds === undefined || !isRepeated(answer)) return;
      if (!ask.isKnownByFields(answer.forCredential === true ? SECRET_BESIDE : SECRET)) return;
      // Answers that depend on time say the second, so that all of them are over with it.
      if (Math.floor(now / 1000) !== second || known.size >= MOST_TARGETS || bytes > MOST_BYTES) forget();
      second = Math.floor(now / 1000);
      const { request } = ask.exchange;
      bytes += lengthOf(request.rawHeaders) + (answer.body instanceof Uint8Array ? answer.body.byteLength * 3 : 0);
      const key = keyOf(request);
      const others = (known.get(key) ?? []).slice(0, MOST_SHAPES - 1);
      known.set(key, [knownBy(ask, answer), ...others]);
    },
  };
}

/** True of a head that is found by other bytes than its own. */
const isAltered = (head: string): boolean => WITH_CREDENTIAL.test(head) || TRACED.test(head);

/** The one line of it: a request with two is refused, so that none is known. */
function credentialOf(fields: Fields): string | undefined {
  for (let at = 0; at < fields.length; at += 2) {
    const name = fields[at] ?? '';
    if (name.length === CREDENTIAL.length && name.toLowerCase() === CREDENTIAL) return fields[at + 1];
  }
  return undefined;
}

const lengthOf = (fields: Fields): number => fields.reduce((sum, each) => sum + each.length, 0);

function knownBy({ exchange, context, peer, asked }: Received, answer: Answer): Known {
  const { rawHeaders, method = '', httpVersion } = exchange.request;
  const names = rawHeaders.filter((_, at) => at % 2 === 0);
  const counts = new Set([...ALWAYS_READ, ...asked]);
  counts.delete(CREDENTIAL);
  const places = names.flatMap((name, at) => (counts.has(name.toLowerCase()) ? [at * 2 + 1] : []));
  const values = places.map((at) => rawHeaders[at]);
  const mayKeep = (name: string): boolean =>
    PLAIN.has(name) || name === CREDENTIAL || (name === TRACE && !counts.has(TRACE));
  const mayKeepHead = names.every((name) => mayKeep(name.toLowerCase()));
  const { localAddress } = exchange.connection;
  return { context, peer, localAddress, method, version: httpVersion, names, places, values, mayKeepHead, answer };
}

/** What is not there stays away where the names are the same. */
function isSame(known: Known, exchange: Exchange, context: AskContext): boolean {
  const { method, httpVersion, rawHeaders } = exchange.request;
  if (known.context !== context || known.method !== method || known.version !== httpVersion) return false;
  const { names, places, values } = known;
  if (rawHeaders.length !== names.length * 2) return false;
  for (let at = 0; at < names.length; at += 1) if (rawHeaders[at * 2] !== names[at]) return false;
  for (let at = 0; at < places.length; at += 1) if (rawHeaders[places[at] ?? 0] !== values[at]) return false;
  if (known.localAddress !== exchange.connection.localAddress || known.peer !== context.peerOf(exchange)) return false;
  return tooLong(rawHeaders, context.headBytes) === undefined;
}
