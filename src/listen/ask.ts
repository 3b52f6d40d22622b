import type { Interim } from '../kernel/answer.ts';
import type { Ask } from '../kernel/ask.ts';
import type { ByteStream, Fields } from '../kernel/fields.ts';
import type { ListenerName } from '../kernel/ids.ts';
import type { Peer } from '../kernel/peer.ts';
import { type Outcome, type Refusal, accepted, refuse, refused } from '../kernel/refusal.ts';
import { type Addressed, type AuthorityContext, readAuthority } from './authority.ts';
import { bodyOf, hasForbiddenContent } from './body.ts';
import { type Exchange, sinkOf } from './exchange.ts';
import type { FieldPlaces } from './field-places.ts';
import { isOwnAuthority } from './host.ts';
import { writeInterim } from './interim.ts';
import type { FindPeer } from './peer.ts';
import { fieldsOf, tooLong } from './request-fields.ts';
import { readTarget } from './target.ts';

/** What a listener knows of itself when it reads a request. */
export interface AskContext extends AuthorityContext {
  readonly listener: ListenerName;
  /** Longest names and values together, in bytes. */
  readonly headBytes: number;
  readonly peerOf: FindPeer;
}

/** Reads one request of either protocol, checked as HTTP and by its host, or says what is wrong with it. */
export function readAsk(exchange: Exchange, context: AskContext): Outcome<Received> {
  const { request, connection } = exchange;
  const fields = fieldsOf(exchange);
  const places = connection.placesOf(fields);
  const wrong = wrongMessage(exchange, places, fields) ?? places.wrong ?? tooLong(fields, context.headBytes);
  if (wrong !== undefined) return refused(wrong);
  const method = request.method ?? '';
  const target = readTarget(method, request.url ?? '');
  if (!target.ok) return target;
  const authority = exchange.protocol === 'http/2' ? exchange.request.headers[':authority'] : undefined;
  const said = { host: places.read(fields, 'host'), authority };
  const addressed = readAuthority(exchange, target.value, said, context);
  if (!addressed.ok) return addressed;
  return accepted(new Received({ exchange, context, fields, places }, target.value.path, addressed.value));
}

/** A request whose head is read, and how its fields are found. */
interface Read {
  readonly exchange: Exchange;
  readonly context: AskContext;
  readonly fields: Fields;
  readonly places: FieldPlaces;
}

/** A request as it was received: what few ask for is made for who asks. */
export class Received implements Ask {
  readonly listener: ListenerName;
  readonly base: string;
  readonly method: string;
  readonly target: string;
  readonly proxied: string | null;
  readonly host: string;
  readonly peer: Peer;
  readonly exchange: Exchange;
  readonly context: AskContext;
  /** The fields that were asked for by name, lower case. */
  readonly asked: string[] = [];
  readonly #read: Read;
  readonly #reached: string;
  #signal: AbortSignal | undefined;
  /** True once more was asked for than fields by their names. */
  #isSeen = false;

  constructor(read: Read, target: string, { base, proxied, host, reached }: Addressed) {
    const { context, exchange } = read;
    this.listener = context.listener;
    this.base = base;
    this.method = exchange.request.method ?? '';
    this.target = target;
    this.proxied = proxied;
    this.host = host;
    this.peer = context.peerOf(exchange);
    this.exchange = exchange;
    this.context = context;
    this.#read = read;
    this.#reached = reached;
  }

  get fields(): Fields {
    this.#isSeen = true;
    return this.#read.fields;
  }

  get body(): ByteStream | null {
    this.#isSeen = true;
    return bodyOf(this.exchange);
  }

  get interim(): (interim: Interim) => void {
    this.#isSeen = true;
    return (interim) => writeInterim(this.exchange, interim);
  }

  field(name: string): string | undefined {
    this.asked.push(name);
    return this.#read.places.read(this.#read.fields, name);
  }

  ownsBase(): boolean {
    return isOwnAuthority(this.#reached, this.exchange.connection.localPort, this.context);
  }

  /** Most requests are answered before anyone wants to know that they ended. */
  signal(): AbortSignal {
    this.#isSeen = true;
    return (this.#signal ??= abortsWithClient(this.exchange));
  }

  /** Tells whether all that was asked of it are fields by their names, and none of these is there. */
  isKnownByFields(except: readonly string[]): boolean {
    const { places, fields } = this.#read;
    return !this.#isSeen && except.every((name) => places.read(fields, name) === undefined);
  }
}

/** What can be wrong with the message around target and fields. */
function wrongMessage(exchange: Exchange, places: FieldPlaces, fields: Fields): Refusal | undefined {
  const { request, expects } = exchange;
  if (expects === 'unknown') return refuse('bad-request', 'Expect may say 100-continue only.', { status: 417 });
  if (exchange.protocol === 'http/2') {
    const scheme = request.headers[':scheme'];
    if (scheme !== undefined && scheme !== 'http' && scheme !== 'https') {
      return refuse('bad-request', ':scheme must be http or https.');
    }
  } else {
    const wrong = wrongFraming(request.httpVersion, places.read(fields, 'transfer-encoding'));
    if (wrong !== undefined) return wrong;
  }
  return hasForbiddenContent(exchange)
    ? refuse('bad-request', `A ${request.method} request has no content here.`)
    : undefined;
}

/** Node's parser reads bytes that call themselves HTTP/0.9 or HTTP/2.0, and codings that two readers can disagree about. */
function wrongFraming(version: string, coding: string | undefined): Refusal | undefined {
  if (version !== '1.1' && version !== '1.0') return refuse('bad-request', 'Only HTTP/1.1, 1.0 and 2 are spoken here.');
  if (coding === undefined) return undefined;
  // "A server … that receives an HTTP/1.0 message containing a Transfer-Encoding … MUST treat the message as if the framing is
  // faulty" — RFC 9112 §6.1.
  if (version === '1.0') return refuse('bad-request', 'HTTP/1.0 has no Transfer-Encoding.');
  return coding.toLowerCase() === 'chunked' ? undefined : refuse('bad-request', 'The only transfer coding is chunked.');
}

function abortsWithClient(exchange: Exchange): AbortSignal {
  const controller = new AbortController();
  const sink = sinkOf(exchange);
  const abort = (): void => {
    if (!sink.writableFinished) controller.abort(new Error('the client left'));
  };
  if (sink.destroyed) abort();
  else sink.once('close', abort);
  return controller.signal;
}
