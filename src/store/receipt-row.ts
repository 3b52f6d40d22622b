import type { Receipt } from '../kernel/receipt.ts';
import { type Url, urlId } from '../kernel/ids.ts';

/** A receipt as it is written: one text, bounded, and without what URLs may carry in secret. */

/** Room for everything that a receipt is about; what a stranger can stretch is cut before. */
const LONGEST_BODY = 16 * 1024;
const LONGEST_TEXT = 1_024;
const MOST_ITEMS = 32;

/** Writes a receipt as JSON text. */
export function receiptText(receipt: Receipt): string {
  const text = JSON.stringify(bounded(withoutSecrets(receipt)));
  if (text.length <= LONGEST_BODY) return text;
  const { kind, id, at } = receipt;
  const agent = 'agent' in receipt ? receipt.agent : null;
  return JSON.stringify({ kind, id, at, agent, cut: text.length });
}

/** Queries and userinfo may hold credentials (a signed redirect, an API key): what is written has neither. */
function withoutSecrets(receipt: Receipt): Receipt {
  if (receipt.kind === 'registry') return { ...receipt, url: receipt.url === null ? null : plain(receipt.url) };
  if (receipt.kind !== 'exchange') return receipt;
  const { trail } = receipt;
  return {
    ...receipt,
    trail: {
      ...trail,
      requestedUrl: plainTarget(trail.requestedUrl),
      finalUrl: plainTarget(trail.finalUrl),
      redirects: trail.redirects.map(plainTarget),
    },
    interfaceUrl: receipt.interfaceUrl === null ? null : plain(receipt.interfaceUrl),
  };
}

/** What was asked for is written in its one way: there is nothing to cut where nothing of that kind is in it. */
const plainTarget = (url: Url): Url => (/[?#@]/.test(url) ? plain(url) : url);

function plain(url: string): Url {
  const parsed = URL.parse(url);
  if (parsed === null) return urlId('');
  return urlId(`${parsed.origin}${parsed.pathname}${parsed.search === '' ? '' : '?…'}`);
}

/** Cuts long texts and lists, at any depth; most receipts have none. */
const bounded = (value: unknown): unknown => (fits(value) ? value : cut(value));

function fits(value: unknown): boolean {
  if (typeof value === 'string') return value.length <= LONGEST_TEXT;
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.length <= MOST_ITEMS && value.every(fits);
  for (const member of Object.values(value)) if (!fits(member)) return false;
  return true;
}

function cut(value: unknown): unknown {
  if (typeof value === 'string') return value.length > LONGEST_TEXT ? `${value.slice(0, LONGEST_TEXT)}…` : value;
  if (Array.isArray(value)) return value.slice(0, MOST_ITEMS).map(cut);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, cut(member)]));
}
