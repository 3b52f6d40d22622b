import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { CardsFile } from './cards-sqlite.ts';
import type { CallMessage, DiskCalls, ReplyMessage, ThreadOptions } from './disk-calls.ts';
import { HeldFile, failureOf } from './held-file.ts';
import { LedgerFile } from './ledger-file.ts';

/**
 * The thread that waits for the disk, so that the one that serves never does. It answers every call, in order, and never throws. It ends
 * when it is told to rest: what it knows goes on to the one that is started for the next call.
 */

/** Everything that the thread can be asked to do. */
function callsOn({ ledgerFile, cardsFile, chainKey, known }: ThreadOptions): DiskCalls {
  let { cardsAside } = known;
  const ledger = new HeldFile(ledgerFile, (isAsLeft) => new LedgerFile(ledgerFile, chainKey, isAsLeft), known.ledger);
  const openCards = (isAsLeft: boolean): CardsFile => {
    const { cards: file, aside } = CardsFile.open(cardsFile, isAsLeft);
    cardsAside = aside ?? cardsAside;
    return file;
  };
  const cards = new HeldFile(cardsFile, openCards, known.cards);
  return {
    open: () => ({ ledger: ledger.failure(), cards: cards.failure(), cardsAside }),
    append: (receipts) => ledger.get().append(receipts),
    prune: (bounds, now) => ledger.get().prune(bounds, now),
    query: (query) => ledger.get().query(query),
    verify: () => ledger.get().verify(),
    decide: (decision, letsIn) => ledger.get().decide(decision, letsIn),
    decisions: (agent) => ledger.get().decisions(agent),
    hold: (card) => ledger.get().hold(card),
    held: (agent) => ledger.get().held(agent),
    release: (agent, variant) => ledger.get().release(agent, variant),
    enforce: (card) => ledger.get().enforce(card),
    inForce: (agent) => ledger.get().inForce(agent),
    holdExtended: (card) => ledger.get().holdExtended(card),
    heldExtended: () => ledger.get().heldExtended(),
    releaseExtended: (agent, digest) => ledger.get().releaseExtended(agent, digest),
    unnamed: () => ledger.get().unnamed(),
    forget: (agent) => ledger.get().forget(agent),
    saveCard: (card) => cards.get().save(card),
    dropCard: (key, variant) => cards.get().drop(key, variant),
    purgeCards: (tags) => cards.get().purge(tags),
    softenCards: (tags, now) => cards.get().soften(tags, now),
    loadCards: () => cards.get().load(),
    saveKeySet: (keys) => cards.get().saveKeySet(keys),
    loadKeySets: () => cards.get().loadKeySets(),
    rest: () => ({ ledger: ledger.rest(), cards: cards.rest(), cardsAside }),
    close() {
      ledger.close();
      cards.close();
    },
  };
}

function answer(calls: DiskCalls, { ticket, name, args }: CallMessage): ReplyMessage {
  try {
    const call = calls[name] as (...args: readonly unknown[]) => unknown;
    return { ticket, ok: true, value: call(...args) };
  } catch (error) {
    return { ticket, ok: false, ...failureOf(error) };
  }
}

const LAST_CALLS: ReadonlySet<string> = new Set<keyof DiskCalls>(['rest', 'close']);

function serve(port: MessagePort, options: ThreadOptions): void {
  const calls = callsOn(options);
  port.on('message', (message: CallMessage) => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin, a window has
    port.postMessage(answer(calls, message));
    if (LAST_CALLS.has(message.name)) port.close();
  });
}

// Without a port this file is only looked at.
if (parentPort !== null) serve(parentPort, workerData as ThreadOptions);
