import { type CarriedInterface, interfacesOf } from '../card/pick-interface.ts';
import type { SigningKey } from '../card/sign.ts';
import { strongEtag } from '../http/answer.ts';
import { withoutFields } from '../http/fields.ts';
import type { Admission } from '../kernel/entry.ts';
import type { ExtendedEntry } from '../kernel/extended-entry.ts';
import { type Refusal, refuse } from '../kernel/refusal.ts';
import type { AgentRule } from '../policy/rules.ts';
import { OF_THE_BYTES, keepBounded, localAt, rewritten } from './local-card.ts';
import type { ExtendedCall } from './extended-call.ts';

/** Who is to be shown it, and by which interfaces calls are sent on. */
export interface ShownTo {
  readonly call: Pick<ExtendedCall, 'ask' | 'basePath'>;
  readonly agent: AgentRule;
  /** Those of the public card: calls go by them and no others. */
  readonly interfaces: readonly CarriedInterface[];
}

/** Gives an extended card as its caller is served it: the agent's own bytes, or a card that names Cardea's interfaces instead. */
export type LocalExtended = (entry: ExtendedEntry, to: ShownTo) => ExtendedEntry | Promise<ExtendedEntry>;

type Made = Pick<ExtendedEntry, 'body' | 'etag'>;

/**
 * Makes each card once for each base URL, so that a tag stays what it was. By its admission, which is one caller's alone: bytes are
 * shared, and who asks first must not be told by the time that it takes whether another has them too.
 */
export function createLocalExtended(key: SigningKey): LocalExtended {
  const made = new WeakMap<Admission, Map<string, Made | Promise<Made>>>();
  return (entry, { call: { ask, basePath }, agent, interfaces }) => {
    if (agent.card.route === 'direct') return entry;
    const local = localAt(ask, basePath, entry.admission.verdict);
    const known = made.get(entry.admission) ?? new Map<string, Made | Promise<Made>>();
    made.set(entry.admission, known);
    const name = `${local.sign} ${local.base}`;
    const found = known.get(name);
    if (found !== undefined)
      return found instanceof Promise ? found.then((late) => shown(entry, late)) : shown(entry, found);
    const leads = (one: CarriedInterface): boolean => isAmong(one, interfaces);
    const making = rewritten(entry, { ...agent.card, leads }, local, key).then(tagged);
    keepBounded(known, name, making);
    return making.then((ready) => {
      if (known.get(name) === making) known.set(name, ready);
      return shown(entry, ready);
    });
  };
}

const shown = (entry: ExtendedEntry, made: Made): ExtendedEntry => ({
  ...entry,
  ...made,
  fields: withoutFields(entry.fields, OF_THE_BYTES),
});

const tagged = (body: Uint8Array): Made => ({ body, etag: strongEtag(body) });

/** Refuses an extended card whose calls are to pass through Cardea, and which names no interface that they could go by. */
export function refuseUnled(
  body: Uint8Array,
  { card }: Pick<AgentRule, 'card'>,
  interfaces: readonly CarriedInterface[],
): Refusal | undefined {
  if (card.route === 'direct' || interfacesOf(body, card).some((one) => isAmong(one, interfaces))) return undefined;
  return refuse(
    'interface-not-allowed',
    'The extended card names no interface of a binding, version and tenant that the public card has, and calls with route: through go by the public card.',
  );
}

const isAmong = (one: CarriedInterface, interfaces: readonly CarriedInterface[]): boolean =>
  interfaces.some((each) => each.binding === one.binding && each.version === one.version && each.tenant === one.tenant);
