import { parseCard } from '../card/parse.ts';
import { formsToSign, rewriteCard } from '../card/rewrite.ts';
import { type SigningKey, signCardInForms } from '../card/sign.ts';
import { KNOWN_VERSIONS } from '../card/version.ts';
import { strongEtag } from '../http/answer.ts';
import { withoutFields } from '../http/fields.ts';
import type { Ask } from '../kernel/ask.ts';
import type { Entry } from '../kernel/entry.ts';
import type { AgentRule } from '../policy/rules.ts';
import { plainOf, type WithCodings } from './with-codings.ts';

/** Gives the entry as this caller is served it: the agent's own bytes, or a card that names Cardea's interfaces instead. */
export type LocalCard = (ask: Ask, agent: AgentRule, entry: Entry) => Entry | Promise<Entry>;

/** Names under which one listener is reached; a caller that makes up more only makes its own card anew each time. */
const MOST_BASES = 16;

type Made = Pick<Entry, 'body' | 'etag' | 'coded'>;

/** Makes each card once for each base URL: signing takes a fraction of a millisecond, and a tag must stay what it was. */
export function createLocalCard(key: SigningKey, withCodings: WithCodings): LocalCard {
  const made = new WeakMap<Uint8Array, Map<string, Made | Promise<Made>>>();
  const make = async (entry: Entry, agent: AgentRule, local: Local): Promise<Made> => {
    const body = await rewritten(entry, agent, local, key);
    const { etag, coded = [] } = await withCodings({ ...plainOf(entry), body, etag: strongEtag(body) });
    return { body, etag, coded };
  };
  return (ask, agent, entry) => {
    if (agent.card.route === 'direct') return entry;
    const local = localOf(ask, agent, entry);
    const known = made.get(entry.body) ?? new Map<string, Made | Promise<Made>>();
    made.set(entry.body, known);
    const name = `${local.sign} ${local.base}`;
    const found = known.get(name);
    if (found !== undefined)
      return found instanceof Promise ? found.then((late) => shown(entry, late)) : shown(entry, found);
    const making = make(entry, agent, local);
    keep(known, name, making);
    return making.then((body) => {
      if (known.get(name) === making) known.set(name, body);
      return shown(entry, body);
    });
  };
}

/** Where Cardea serves one agent, and its keys, as the caller reaches them. */
interface Local {
  readonly base: string;
  readonly keys: string;
  readonly sign: 'signed' | 'unsigned';
}

/**
 * The listener has held the name in the request against its list; scheme and port are those that the caller came by. A card that nobody
 * vouched for is not vouched for here either, nor one for an address that may be another's: whoever asks with a port of its own choice
 * would get Cardea's word for a URL where it listens itself.
 */
function localOf(ask: Ask, { name }: AgentRule, { admission }: Entry): Local {
  const { base, target, proxied } = ask;
  // At the root stands an agent on a listener or under a host name of its own; who asked for its card by URL finds it below /agents/.
  const isAtRoot = proxied === null && target.startsWith('/.well-known/');
  return {
    base: isAtRoot ? base : `${base}/agents/${name}`,
    keys: `${base}/.well-known/jwks.json`,
    sign: admission?.verdict.signature === 'verified' && ask.ownsBase() ? 'signed' : 'unsigned',
  };
}

function keep<Value>(known: Map<string, Value>, name: string, value: Value): void {
  const [oldest] = known.keys();
  if (known.size >= MOST_BASES && oldest !== undefined) known.delete(oldest);
  known.set(name, value);
}

/** A date of the origin's bytes says nothing of these. */
const OF_THE_BYTES: ReadonlySet<string> = new Set(['last-modified', 'content-length']);

const shown = (entry: Entry, made: Made): Entry => ({
  ...entry,
  ...made,
  fields: withoutFields(entry.fields, OF_THE_BYTES),
});

async function rewritten(entry: Entry, agent: AgentRule, local: Local, key: SigningKey): Promise<Uint8Array> {
  const parsed = parseCard(entry.body, agent.card);
  if (!parsed.ok || entry.admission === null) throw new Error(`entry ${entry.key} is no accepted card`);
  const { facts } = entry.admission;
  const card = rewriteCard(parsed.value, local.base, agent.card);
  const version = KNOWN_VERSIONS.find((known) => known === facts.protocolVersion) ?? '1.0';
  const signed =
    local.sign === 'signed' ? await signCardInForms(card, formsToSign(card, version), key, local.keys) : card;
  return new TextEncoder().encode(JSON.stringify(signed));
}
