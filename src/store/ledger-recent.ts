import type { AgentName } from '../kernel/ids.ts';
import type { Receipt } from '../kernel/receipt.ts';
import { type Outcome, accepted, refuse, refused } from '../kernel/refusal.ts';
import type {
  CardInForce,
  Clock,
  Decision,
  Evidence,
  HeldCard,
  Observer,
  ReceiptPage,
  ReceiptQuery,
} from '../ports.ts';
import { type KeyedHash, withoutNames } from './keyed-hash.ts';
import { newReceiptId } from './receipt-id.ts';
import { receiptText } from './receipt-row.ts';
import { createRefusalTally } from './refusal-tally.ts';

/** The ledger of a daemon that keeps no state: the latest receipts, and decisions until it ends. There is no chain to check. */
export function createRecentLedger(parts: {
  readonly clock: Clock;
  readonly observer: Observer;
  readonly keyedHash: KeyedHash;
}): Evidence {
  const { clock, observer, keyedHash } = parts;
  const recent = new RecentReceipts();
  const desk = new Desk();
  const issue = () => newReceiptId(clock.now());
  const record = (given: Receipt): void => {
    const receipt = withoutNames(given, keyedHash);
    observer.record({ kind: 'receipt', receipt });
    recent.add(receipt);
  };
  const tally = createRefusalTally({ clock, issue, record });
  return {
    issue,
    record,
    keyedHash,
    async commit(receipt) {
      record(receipt);
      return true;
    },
    refused: (note) => tally.note(note),
    query: async (query) => accepted(recent.query(query)),
    verify: async () => refused(refuse('not-found', 'With state: memory there is no chain of receipts to check.')),
    async decide(decision, letsIn) {
      const decided = desk.decide(decision, letsIn);
      if (decided.ok) record({ kind: 'review', ...decision });
      return decided;
    },
    decisions: async (agent) => accepted(desk.decisions(agent)),
    hold: async (card) => accepted(desk.hold(card)),
    held: async (agent) => accepted(desk.held(agent)),
    release: async (agent, variant) => accepted(desk.release(agent, variant)),
    enforce: async (card) => accepted(desk.enforce(card)),
    inForce: async (agent) => accepted(desk.inForce(agent)),
    holdExtended: async (card) => accepted(card),
    // What waits is known in memory, and a daemon that keeps nothing has no restart to remember it for.
    heldExtended: async () => accepted([]),
    releaseExtended: async () => accepted(null),
    unnamed: async () => accepted(desk.unnamed()),
    forget: async (agent) => accepted(desk.forget(agent)),
    async close() {
      tally.flush();
    },
  };
}

/** Approvals come from people: more of them than this come from a script. */
const MOST_DECISIONS = 10_000;
/** How many cards of one variant can be gone back to. */
const KEPT = 16;
/** What a person looks back at; at some 2 KB each. */
const MOST_RECEIPTS = 1_000;

/** What people have decided, and what waits for them. */
class Desk {
  readonly #decisions: Decision[] = [];
  readonly #held = new Map<string, HeldCard>();
  readonly #inForce = new Map<AgentName, readonly CardInForce[]>();

  decide(decision: Decision, letsIn: readonly CardInForce[]): Outcome<Decision> {
    if (this.#decisions.length >= MOST_DECISIONS) return refused(tooMany());
    this.#decisions.push(decision);
    for (const [key, { agent, digest }] of this.#held) {
      if (agent === decision.agent && digest === decision.digest) this.#held.delete(key);
    }
    for (const card of letsIn) this.enforce(card);
    return accepted(decision);
  }

  enforce(card: CardInForce): CardInForce {
    const before = this.#inForce.get(card.agent) ?? [];
    const kept = before.filter(({ variant }) => variant === card.variant).slice(1 - KEPT);
    this.#inForce.set(card.agent, [
      ...before.filter((one) => one.variant !== card.variant || kept.includes(one)),
      card,
    ]);
    return card;
  }

  inForce(agent: AgentName): readonly CardInForce[] {
    return this.#inForce.get(agent) ?? [];
  }

  decisions(agent: AgentName): readonly Decision[] {
    return this.#decisions.filter((each) => each.agent === agent);
  }

  hold(card: HeldCard): HeldCard {
    this.#held.set(holdKey(card.agent, card.variant), card);
    return card;
  }

  held(agent: AgentName | null): readonly HeldCard[] {
    return [...this.#held.values()].filter((card) => agent === null || card.agent === agent);
  }

  unnamed(): readonly AgentName[] {
    const known = [...this.#inForce.values(), [...this.#held.values()], this.#decisions].flat();
    const sorted = known.toSorted((one, other) => one.at - other.at).map(({ agent }) => agent);
    return [...new Set(sorted.toReversed())].toReversed().filter((agent) => agent.includes('://'));
  }

  forget(agent: AgentName): null {
    this.#inForce.delete(agent);
    for (const [key, held] of this.#held) if (held.agent === agent) this.#held.delete(key);
    return null;
  }

  release(agent: AgentName, variant: string): null {
    this.#held.delete(holdKey(agent, variant));
    return null;
  }
}

const tooMany = () => refuse('overloaded', 'Memory holds no more decisions; give Cardea a state folder.');

const holdKey = (agent: AgentName, variant: string): string => `${agent}\0${variant}`;

class RecentReceipts {
  readonly #kept = new Map<number, string>();
  #last = 0;

  /** Kept as it would be written: without what URLs may carry in secret, bounded, and with no part of the card's own text. */
  add(receipt: Receipt): void {
    this.#last += 1;
    this.#kept.set(this.#last, receiptText(receipt));
    this.#kept.delete(this.#last - MOST_RECEIPTS);
  }

  query({ agent, since, before, limit }: ReceiptQuery): ReceiptPage {
    const found: [number, Receipt][] = [];
    for (const [seq, text] of [...this.#kept].toReversed()) {
      if (before !== undefined && seq >= before) continue;
      const receipt = JSON.parse(text) as Receipt;
      if (agent !== undefined && !('agent' in receipt && receipt.agent === agent)) continue;
      if (since !== undefined && receipt.at < since) continue;
      found.push([seq, receipt]);
      if (found.length > limit) break;
    }
    const next = found.length > limit ? (found[limit - 1]?.[0] ?? null) : null;
    return { receipts: found.slice(0, limit).map(([, receipt]) => receipt), next };
  }
}
