import type net from 'node:net';
import { problemAnswer } from '../bindings/problem.ts';
import type { Answer } from '../kernel/answer.ts';
import type { Ask } from '../kernel/ask.ts';
import type { ListenerName, Tag } from '../kernel/ids.ts';
import type { ListenAddress } from '../kernel/listen-address.ts';
import { type Refusal, RefusalError, refuse } from '../kernel/refusal.ts';
import { type EpochMs, between } from '../kernel/units.ts';
import type { Clock, Observer } from '../ports.ts';
import { type AskContext, readAsk } from './ask.ts';
import { type Place, bind } from './bind.ts';
import { brokenRequest, troubledPort } from './broken.ts';
import { cutOff } from './cut-off.ts';
import { type Exchange, isAnswered, isOver } from './exchange.ts';
import { type Front, createFront } from './front.ts';
import type { FrontLimits } from './limits.ts';
import { type Going, createGoing } from './going.ts';
import { createFindPeer } from './peer.ts';
import { type Manner, reply } from './reply.ts';
import { type Known, createStandingAnswers, type StandingAnswers } from './standing-answers.ts';
import { createWireForms } from './wire-forms.ts';
import { type ListenerTls, type Secured, createSecured } from './secure.ts';

/** What of a listener can change while it is open. */
export interface Manners {
  /** Further names that requests may be for, lower case. */
  readonly names: ReadonlySet<string>;
  /** Connections at one time; those that are there stay. */
  readonly connections: number;
}

export interface ListenerOptions extends Place {
  readonly name: ListenerName;
  /** Further names that requests may be for, lower case. */
  readonly names: ReadonlySet<string>;
  /** Whom the configuration says that this listener is for. */
  readonly principal: string | null;
  /** Null for cleartext. */
  readonly tls: ListenerTls | null;
  /** True where callers may use it as their HTTP proxy. */
  readonly isProxy: boolean;
  readonly limits: FrontLimits;
  readonly handle: (ask: Ask) => Answer | Promise<Answer>;
  readonly clock: Clock;
  readonly observer: Observer;
}

/** One open port. */
export interface Listener {
  readonly name: ListenerName;
  /**
   * Binds it; resolves to where it is, throws an Error that says which listener cannot be opened and why.
   * @param at where it was before a pause, else where its options say.
   */
  open(at?: ListenAddress): Promise<ListenAddress>;
  /** Gives its place free at once and serves the connections that it has. */
  pause(): void;
  /** Takes over other manners. */
  follow(manners: Manners): void;
  /**
   * Reads the files of its TLS identity again, for connections that come from now on. Throws an Error that says which one is wrong,
   * and goes on with what it had.
   */
  renew(): Promise<void>;
  /** Cuts off the answers that are being written of something that carries the tag. */
  cut(scope: Tag): void;
  /** How many those are. */
  count(scope: Tag): number;
  /** Stops accepting and lets accepted requests finish; what is left at `hardStop` is cut. */
  drain(hardStop: Promise<void>): Promise<void>;
}

export function createListener(options: ListenerOptions): Listener {
  const { name, address, names, limits, observer, clock } = options;
  const secured = options.tls === null ? null : createSecured(options.tls, limits);
  let context: AskContext = {
    listener: name,
    scheme: secured === null ? 'http' : 'https',
    names,
    over: address.kind,
    headBytes: limits.headBytes,
    isProxy: options.isProxy,
    peerOf: createFindPeer(options.principal, options.tls !== null && options.tls.clientCa !== null),
  };
  const going = createGoing(limits.writeTimeout);
  const front: Front = createFront(
    {
      request: (exchange) => serve(port, exchange, context),
      repeat: (head, { localAddress }, socket) => {
        const now = clock.now();
        const known = port.standing.findHead(head, context, localAddress, now);
        return known !== undefined && !front.isEnding() && repeat(port, known.answer, socket, now);
      },
      learn: (head, known) => port.standing.keepHead(head, known),
      refuse: (exchange, refusal) => finish(port, exchange, refused(refusal), clock.now()),
      unread: (refusal) => record(port, '', problemAnswer(refusal, UNREAD), clock.now()),
      trouble: (error) => observer.record(troubledPort(name, error)),
    },
    limits,
    secured?.acceptor,
  );
  const port = portOf(options, front, going);
  const renew = (): Promise<void> => renewIdentity(name, secured);
  return {
    name,
    renew,
    async open(at = address) {
      await renew();
      return bind(front.server, { name, address: at });
    },
    pause: () => void front.server.close(),
    follow(manners) {
      context = { ...context, names: manners.names };
      front.server.maxConnections = manners.connections;
    },
    cut: going.cut,
    count: going.count,
    drain: front.drain,
  };
}

function portOf(options: ListenerOptions, front: Front, going: Going): Port {
  const wireForms = createWireForms();
  const manner = { ...options.limits, wireForms };
  return {
    ...options,
    front,
    going,
    standing: createStandingAnswers((answer) => wireForms.has(answer)),
    kept: { ...manner, closes: false },
    last: { ...manner, closes: true },
  };
}

async function renewIdentity(name: ListenerName, secured: Secured | null): Promise<void> {
  try {
    await secured?.renew();
  } catch (error) {
    throw new Error(`listener ${name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

type Port = ListenerOptions & {
  readonly front: Front;
  readonly going: Going;
  readonly standing: StandingAnswers;
  /** How an answer is written that the connection outlives, and how the last one. */
  readonly kept: Manner & Pick<FrontLimits, 'idleTimeout'>;
  readonly last: Manner;
};

/** An answer and whether the connection ends for what the request was. */
interface Given {
  readonly answer: Answer;
  readonly closes: boolean;
}

const UNREAD = { kind: 'other', agent: null } as const;
const CLIENT_LEFT = refuse('bad-request', 'The client left before its request was complete.');

/** A request that is refused as HTTP is not trusted to say where the next one starts. */
const refused = (refusal: Refusal): Given => ({ answer: problemAnswer(refusal, UNREAD), closes: true });
const given = (answer: Answer): Given => ({ answer, closes: false });

/**
 * Reads, handles and answers one request, whatever happens; a broken handler is an `internal` problem, never a crash. Says by what it was
 * answered, where the same bytes may be answered so again.
 */
function serve(port: Port, exchange: Exchange, context: AskContext): Known | undefined {
  const startedAt = port.clock.now();
  try {
    const known = port.standing.find(exchange, context, startedAt);
    if (known === undefined) handle(port, exchange, context, startedAt);
    else finish(port, exchange, given(known.answer), startedAt);
    return known?.mayKeepHead === true ? known : undefined;
  } catch (error) {
    finish(port, exchange, brokenBy(port, exchange, error), startedAt);
    return undefined;
  }
}

function handle(port: Port, exchange: Exchange, context: AskContext, startedAt: EpochMs): void {
  const ask = readAsk(exchange, context);
  if (!ask.ok) return finish(port, exchange, refused(ask.refusal), startedAt);
  const answer = port.handle(ask.value);
  // Most answers are there at once: they are written without a turn of the event loop.
  if (!(answer instanceof Promise)) {
    port.standing.keep(ask.value, answer, startedAt);
    return finish(port, exchange, given(answer), startedAt);
  }
  const broke = (error: unknown): void => finish(port, exchange, brokenBy(port, exchange, error), startedAt);
  void answer.then((got) => finish(port, exchange, given(got), startedAt), broke);
}

/** Gives an answer that stands to a GET on a connection that goes on; false where only Node can write it. */
function repeat(port: Port, answer: Answer, socket: net.Socket, startedAt: EpochMs): boolean {
  const { wireForms, idleTimeout } = port.kept;
  const whole = wireForms.of(answer, 'GET').whole(idleTimeout);
  if (whole === undefined) return false;
  socket.write(whole);
  port.going.addBytes(socket, answer);
  record(port, 'GET', answer, startedAt);
  return true;
}

/** What a handler that broke leaves to be said: the reason that travelled as an exception, or that it is a bug. */
function brokenBy(port: Port, exchange: Exchange, error: unknown): Given {
  if (error instanceof RefusalError) return given(problemAnswer(error.refusal, UNREAD));
  // Reading on from a client that has left breaks whoever reads.
  return isOver(exchange) ? refused(CLIENT_LEFT) : given(internal(port, error));
}

/** Writes the answer and tells of it; never throws. */
function finish(port: Port, exchange: Exchange, { answer, closes }: Given, startedAt: EpochMs): void {
  const method = exchange.request.method ?? '';
  try {
    const written = reply(exchange, answer, closes || port.front.isEnding() ? port.last : port.kept);
    port.going.add(exchange, answer, written === undefined);
    if (written === undefined) return record(port, method, answer, startedAt);
    const told = (): void => record(port, method, answer, startedAt);
    written.then(told, (error: unknown) => {
      breakOff(port, exchange, error);
      told();
    });
  } catch (error) {
    // What cannot be written once is not tried again: `internal` itself always can.
    if (isAnswered(exchange) || answer.trace.code === 'internal') return breakOff(port, exchange, error);
    finish(port, exchange, { answer: internal(port, error), closes }, startedAt);
  }
}

function breakOff(port: Port, exchange: Exchange, error: unknown): void {
  port.observer.record(brokenRequest(port.name, error));
  cutOff(exchange);
}

function internal(port: Port, error: unknown): Answer {
  port.observer.record(brokenRequest(port.name, error));
  return problemAnswer(refuse('internal', 'Cardea could not answer; its log says more.'), UNREAD);
}

function record({ observer, clock, name }: ListenerOptions, method: string, answer: Answer, startedAt: EpochMs): void {
  const { status, trace } = answer;
  observer.record({ kind: 'request', listener: name, method, status, trace, took: between(startedAt, clock.now()) });
}
