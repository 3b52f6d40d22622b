import { parseCard } from '../card/parse.ts';
import { formsToSign, rewriteCard } from '../card/rewrite.ts';
import { type SigningKey, signCardInForms } from '../card/sign.ts';
import { KNOWN_VERSIONS } from '../card/version.ts';
import { strongEtag } from '../http/answer.ts';
import { withoutFields } from '../http/fields.ts';
import type { Ask } from '../kernel/ask.ts';
import type { CardRule } from '../kernel/card-rule.ts';
import type { Entry, Verdict } from '../kernel/entry.ts';
import type { ExtendedEntry } from '../kernel/extended-entry.ts';
import type { AgentName } from '../kernel/ids.ts';
import type { AgentRule } from '../policy/rules.ts';
import { type Codings, plainOf } from './with-codings.ts';

/** Gives the entry as this caller is served it: the agent's own bytes, or a card that names Cardea's interfaces instead. */
export type LocalCard = (ask: Ask, agent: AgentRule, entry: Entry) => Entry | Promise<Entry>;

/** Names under which one listener is reached; a caller that makes up more only makes its own card anew each time. */
const MOST_BASES = 16;

type Made = Pick<Entry, 'body' | 'etag' | 'coded'>;

/** A card that is made, and how the entry that was last asked for looks with it: a hit is to find the same one again. */
interface Ready {
  readonly made: Made;
  latest: { readonly of: Entry; readonly shown: Entry };
}

/** Makes each card once for each base URL: signing takes a fraction of a millisecond, and a tag must stay what it was. */
export function createLocalCard(key: SigningKey, codings: Pick<Codings, 'complete'>): LocalCard {
  const made = new WeakMap<Uint8Array, Map<string, Ready | Promise<Made>>>();
  const make = async (entry: Entry, card: Promise<Uint8Array>): Promise<Made> => {
    const body = await card;
    const { etag, coded = [] } = await codings.complete({ ...plainOf(entry), body, etag: strongEtag(body) });
    return { body, etag, coded };
  };
  return (ask, agent, entry) => {
    if (agent.card.route === 'direct') return entry;
    const { admission } = entry;
    if (admission === null) throw new Error(`entry ${entry.key} is no accepted card`);
    const local = localAt(ask, cardBasePath(ask, agent.name), admission.verdict);
    const known = made.get(entry.body) ?? new Map<string, Ready | Promise<Made>>();
    made.set(entry.body, known);
    const name = `${local.sign} ${local.base}`;
    const found = known.get(name);
    if (found !== undefined)
      return found instanceof Promise ? found.then((late) => shown(entry, late)) : again(entry, found);
    const making = make(entry, rewritten({ body: entry.body, admission }, agent.card, local, key));
    keepBounded(known, name, making);
    return making.then((body) => {
      const ready: Ready = { made: body, latest: { of: entry, shown: shown(entry, body) } };
      if (known.get(name) === making) known.set(name, ready);
      return ready.latest.shown;
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
export const localAt = (ask: Ask, basePath: string, { signature }: Pick<Verdict, 'signature'>): Local => ({
  base: `${ask.base}${basePath}`,
  keys: `${ask.base}/.well-known/jwks.json`,
  sign: signature === 'verified' && ask.ownsBase() ? 'signed' : 'unsigned',
});

/**
 * Says where the base of an agent is for whoever asks for its card: at the root stands an agent on a listener or under a host name of
 * its own; who asked for its card by URL finds it below /agents/.
 */
export const cardBasePath = ({ target, proxied }: Ask, name: AgentName): string =>
  proxied === null && target.startsWith('/.well-known/') ? '' : `/agents/${name}`;

export function keepBounded<Value>(known: Map<string, Value>, name: string, value: Value): void {
  const [oldest] = known.keys();
  if (known.size >= MOST_BASES && oldest !== undefined) known.delete(oldest);
  known.set(name, value);
}

/** A date of the origin's bytes says nothing of these. */
export const OF_THE_BYTES: ReadonlySet<string> = new Set(['last-modified', 'content-length']);

const shown = (entry: Entry, made: Made): Entry => ({
  ...entry,
  ...made,
  fields: withoutFields(entry.fields, OF_THE_BYTES),
});

function again(entry: Entry, ready: Ready): Entry {
  if (ready.latest.of !== entry) ready.latest = { of: entry, shown: shown(entry, ready.made) };
  return ready.latest.shown;
}

/** Makes the card that names Cardea's interfaces, signed anew where its origin's signature was good. */
export async function rewritten(
  { body, admission: { facts } }: Pick<ExtendedEntry, 'body' | 'admission'>,
  rule: CardRule & Parameters<typeof rewriteCard>[2],
  local: Local,
  key: SigningKey,
): Promise<Uint8Array> {
  const parsed = parseCard(body, rule);
  if (!parsed.ok) throw new Error(`an accepted card cannot be read: ${parsed.refusal.detail}`);
  const card = rewriteCard(parsed.value, local.base, rule);
  const version = KNOWN_VERSIONS.find((known) => known === facts.protocolVersion) ?? '1.0';
  const signed =
    local.sign === 'signed' ? await signCardInForms(card, formsToSign(card, version), key, local.keys) : card;
  return new TextEncoder().encode(JSON.stringify(signed));
}
