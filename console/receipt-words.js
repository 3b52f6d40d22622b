/** What a receipt tells, in a few words. */

/** @import { Receipt } from './shapes.ts' */

/**
 * @typedef {object} Told
 * @property {'good' | 'bad' | 'order' | 'quiet'} tone
 * @property {string} title
 * @property {readonly string[]} facts each may be a stranger's text
 * @property {string | null} digest of the card that it is about
 */

/** @type {Readonly<Record<string, string>>} */
const OUTCOMES = {
  stored: 'Fetched and taken',
  not_modified: 'Validated: the same as before',
  uncacheable: 'Fetched, served once and not kept',
  held: 'Fetched, waits for a decision',
  rejected: 'Fetched and refused',
  status: 'The origin answered with an error',
  failed: 'No complete answer came',
  denied: 'Refused before anything was sent',
  superseded: 'Thrown away: a purge or a stop came in between',
};
const GOOD = new Set(['stored', 'not_modified', 'uncacheable']);

/**
 * Tells a receipt.
 * @param {Receipt} receipt
 * @returns {Told}
 */
export function tellReceipt(receipt) {
  switch (receipt.kind) {
    case 'exchange':
      return tellExchange(receipt);
    case 'verdict': {
      const { outcome, verdict, code, why, digest } = receipt;
      const tone = outcome === 'accepted' ? 'quiet' : 'bad';
      return { tone, title: `Judged again: ${outcome}`, facts: facts(verdict?.signature, code, why), digest };
    }
    case 'review': {
      const { action, reason, by, digest } = receipt;
      return {
        tone: 'order',
        title: action === 'approve' ? 'Approved' : 'Rejected',
        facts: facts(`“${reason}”`, `by ${by}`),
        digest,
      };
    }
    case 'switch': {
      const { action, scope, reason, by } = receipt;
      const title = action === 'kill' ? `Stopped: ${scope}` : `Stop lifted: ${scope}`;
      return { tone: 'order', title, facts: facts(`“${reason}”`, `by ${by}`), digest: null };
    }
    case 'change': {
      const { action, about, reason, by } = receipt;
      return {
        tone: 'order',
        title: `Ordered: ${action}`,
        facts: facts(about.join(', '), reason && `“${reason}”`, `by ${by}`),
        digest: null,
      };
    }
    case 'registry': {
      const { registry, status, action, said, code, why } = receipt;
      const tone = action === 'allow' && code === null ? 'quiet' : action === 'block' ? 'bad' : 'order';
      const told = facts(said !== status && `“${said}”`, action, code, why);
      return { tone, title: `The registry ${registry} says: ${status}`, facts: told, digest: null };
    }
    case 'refusal': {
      const { code, count, principal } = receipt;
      const times = count === 1 ? 'once' : `${count} times`;
      return {
        tone: 'bad',
        title: `Refused to callers: ${code}`,
        facts: facts(times, principal && `principal ${principal}`),
        digest: null,
      };
    }
  }
}

/** @param {Extract<Receipt, { kind: 'exchange' }>} receipt @returns {Told} */
function tellExchange({ outcome, purpose, status, verdict, code, why, took, trail, digest }) {
  const what = purpose === 'card' ? '' : ` (${purpose})`;
  const tone = GOOD.has(outcome) ? 'good' : outcome === 'held' ? 'order' : 'bad';
  const told = facts(
    code,
    why,
    status !== null && `status ${status}`,
    verdict !== null &&
      [verdict.signature, verdict.kid, verdict.keys && `of ${verdict.keys}`].filter(Boolean).join(' '),
    trail.redirects.length > 0 && `redirected to ${trail.finalUrl}`,
    `${took} ms`,
  );
  return { tone, title: `${OUTCOMES[outcome] ?? outcome}${what}`, facts: told, digest };
}

/** @param {readonly (string | null | undefined | false)[]} given @returns {readonly string[]} */
const facts = (...given) => given.flatMap((fact) => (fact ? [fact] : []));
