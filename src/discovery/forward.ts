import { isIdempotent } from '../bindings/operations.ts';
import { type CarriedInterface, interfacesOf, pickInterfaces } from '../card/pick-interface.ts';
import type { Answer } from '../kernel/answer.ts';
import type { Ask } from '../kernel/ask.ts';
import type { Entry } from '../kernel/entry.ts';
import type { Tag } from '../kernel/ids.ts';
import { type Outcome, type Refusal, refuse, refused } from '../kernel/refusal.ts';
import { refuseAudience } from '../policy/audience.ts';
import type { AgentRule, Rules } from '../policy/rules.ts';
import type { AcceptedCard } from './accepted-card.ts';
import { basePathOf } from './base-path.ts';
import { type Call, named, readCall, refuseCall } from './call.ts';
import type { ReadHead } from './call-body.ts';
import { CARD_REQUESTS } from './card-request.ts';
import { type Attempt, type ForwardDoors, type Sent, sendCall } from './forward-exchange.ts';
import { OF_ONE_INTERFACE } from './interface-egress.ts';
import { refuseLoop } from './loop.ts';

/**
 * Sends an A2A operation on to the agent that it is for, by an interface of its accepted card.
 */
export type Forward = (ask: Ask, agent: AgentRule, how: Forwarded) => Promise<Answer>;

export interface Forwarded {
  /** The raw path under the agent's base URL. */
  readonly below: string;
  /** What a kill could name of whoever calls. */
  readonly callerTags: readonly Tag[];
  /** What was read of a JSON-RPC request. */
  readonly read?: ReadHead | undefined;
}

interface Parts extends ForwardDoors {
  readonly acceptedCard: AcceptedCard;
}

export function createForward(parts: Parts): Forward {
  const interfaces = createInterfaceReader();
  return async (ask, agent, { below, callerTags, read }) => {
    const { form, call, lateId } = await readCall(ask, below, read);
    const no = async (refusal: Refusal): Promise<Answer> =>
      refuseCall({ ...form, id: await lateId() }, ...named(refusal, agent.name, 'forwarded'));
    if (!call.ok) return no(call.refusal);
    const card = await parts.acceptedCard.find(agent, CARD_REQUESTS[call.value.version]);
    if (!card.ok) return no(card.refusal);
    const picked = permitCall(call.value, agent, {
      interfaces: interfaces(card.value, agent),
      issuers: parts.rules().issuers,
    });
    if (!picked.ok) return no(picked.refusal);
    const attempt = {
      call: call.value,
      form,
      agent,
      entry: card.value,
      basePath: basePathOf(ask, below) || '/',
      callerTags,
    };
    const sent = await sendToFirst(parts, attempt, picked.value);
    return sent.ok ? sent.answer : no(sent.refusal);
  };
}

/**
 * Everything that decides whether a call may leave, once it is known what it is and what its agent's card says. What is decided by who
 * asks alone is `policy/decide`'s.
 */
function permitCall(
  call: Call,
  agent: AgentRule,
  { interfaces, issuers }: { readonly interfaces: readonly CarriedInterface[] } & Pick<Rules, 'issuers'>,
): Outcome<readonly CarriedInterface[]> {
  const refusal =
    refuseLoop(call.ask.field('via')) ??
    refuseExtendedCard(call) ??
    refuseAudience(call.ask.field('authorization'), agent, issuers);
  return refusal === undefined ? pickInterfaces(interfaces, call) : refused(refusal);
}

/** An extended card is for one caller alone and is asked for by its own way: a spelling of that question which is none is no call. */
const refuseExtendedCard = ({ operation }: Call): Refusal | undefined =>
  operation === 'GetExtendedAgentCard'
    ? refuse('extended-not-supported', 'An extended card is asked for by GET {base}/extendedAgentCard or by JSON-RPC.')
    : undefined;

/** Tries the interfaces in the card's order for as long as trying the next one risks nothing. */
async function sendToFirst(
  doors: ForwardDoors,
  attempt: Attempt,
  interfaces: readonly CarriedInterface[],
): Promise<Sent> {
  const [first, ...others] = interfaces;
  if (first === undefined) throw new Error('no interface was picked');
  let sent = await sendCall(doors, attempt, first);
  for (const next of others) {
    if (sent.ok || !mayTryNext(attempt.call, sent)) break;
    sent = await sendCall(doors, attempt, next);
  }
  return sent;
}

/** "before a byte was sent, or on a connection failure" what may be done twice: else a message could be acted on twice. */
function mayTryNext(call: Call, { refusal, sent }: Extract<Sent, { ok: false }>): boolean {
  if (call.ask.signal().aborted || !OF_ONE_INTERFACE.has(refusal.code)) return false;
  if (!sent) return true;
  const isConnection = refusal.code === 'origin-unreachable' && refusal.proxyError !== 'http_protocol_error';
  return isConnection && call.repeatable && isIdempotent(call.operation);
}

type InterfaceReader = (entry: Entry, agent: AgentRule) => readonly CarriedInterface[];

/** A card's interfaces are read once for its bytes, and again where its agent may speak other versions. */
function createInterfaceReader(): InterfaceReader {
  const read = new WeakMap<
    Uint8Array,
    { readonly rule: AgentRule['card']; readonly found: readonly CarriedInterface[] }
  >();
  return ({ body }, { card }) => {
    const known = read.get(body);
    if (known?.rule === card) return known.found;
    const found = interfacesOf(body, card);
    read.set(body, { rule: card, found });
    return found;
  };
}
