import type { AgentName, CardDigest } from '../kernel/ids.ts';
import type { Receipt } from '../kernel/receipt.ts';
import type { CardVariant, HeldExtended } from '../kernel/review.ts';
import type {
  ArchivedKeySet,
  CardInForce,
  ChainReport,
  Decision,
  HeldCard,
  ReceiptPage,
  ReceiptQuery,
} from '../ports.ts';
import type { EncodedEntry } from './card-codec.ts';
import type { CardRow } from './cards-sqlite.ts';
import type { KeepReceipts, KeptReceipts } from './ledger-file.ts';
import type { DiskFault } from './sqlite.ts';

/** What crosses between the program and the thread that waits for the disk. */

/** What the disk is opened with. */
export interface DiskOptions {
  readonly ledgerFile: string;
  readonly cardsFile: string;
  readonly chainKey: Uint8Array;
}

/** What a thread is started with. */
export interface ThreadOptions extends DiskOptions {
  readonly known: Known;
}

/** What a thread that ends leaves to the next one. */
export interface Known {
  readonly ledger: KnownFile;
  readonly cards: KnownFile;
  readonly cardsAside: DiskFault | null;
}

export interface KnownFile {
  /** The file as it was closed; null where it never was open. */
  readonly left: LeftFile | null;
  /** A fault that only a person mends. */
  readonly lasting: Failure | null;
}

export interface LeftFile {
  readonly inode: bigint;
  /** When it was made, in ns. */
  readonly born: bigint;
  /** Its size and times: another one where somebody wrote into it. */
  readonly print: string;
}

/** How opening went: null for what is open. */
export interface Opened {
  readonly ledger: Failure | null;
  readonly cards: Failure | null;
  /** Why the file of cards was put aside, where it was. */
  readonly cardsAside: DiskFault | null;
}

export interface Failure {
  readonly fault: DiskFault;
  readonly message: string;
}

/** The work of the thread, in the order in which it is asked for. */
export interface DiskCalls {
  open(): Opened;
  append(receipts: readonly Receipt[]): KeptReceipts;
  prune(bounds: KeepReceipts, now: number): KeptReceipts;
  query(query: ReceiptQuery): ReceiptPage;
  verify(): ChainReport;
  decide(decision: Decision, letsIn: readonly CardInForce[]): KeptReceipts;
  decisions(agent: AgentName): readonly Decision[];
  hold(card: HeldCard): void;
  held(agent: AgentName | null): readonly HeldCard[];
  release(agent: AgentName, variant: CardVariant): void;
  enforce(card: CardInForce): void;
  inForce(agent: AgentName): readonly CardInForce[];
  holdExtended(card: HeldExtended): void;
  heldExtended(): readonly HeldExtended[];
  releaseExtended(agent: AgentName, digest: CardDigest): void;
  unnamed(): readonly AgentName[];
  forget(agent: AgentName): void;
  saveCard(card: CardRow): void;
  dropCard(key: string, variant: string): void;
  purgeCards(tags: readonly string[]): void;
  softenCards(tags: readonly string[], now: number): void;
  loadCards(): readonly EncodedEntry[];
  saveKeySet(keys: ArchivedKeySet): void;
  loadKeySets(): readonly ArchivedKeySet[];
  /** Closes the files and ends the thread, until the next call. */
  rest(): Known;
  close(): void;
}

export type CallName = keyof DiskCalls;

export interface CallMessage {
  readonly ticket: number;
  readonly name: CallName;
  readonly args: readonly unknown[];
}

export type ReplyMessage =
  | { readonly ticket: number; readonly ok: true; readonly value: unknown }
  | ({ readonly ticket: number; readonly ok: false } & Failure);
