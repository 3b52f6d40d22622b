import { admitCard } from '../card/admit.ts';
import { fieldValue } from '../http/fields.ts';
import type { Entry } from '../kernel/entry.ts';
import type { AgentRule } from '../policy/rules.ts';
import type { Clock, Observer, Store } from '../ports.ts';

/**
 * Judges a stored card under today's policy and keys: the entry with its new verdict, or undefined, and then it is gone.
 * A verdict reached under another policy is never served.
 */
export type JudgeAgain = (entry: Entry, agent: AgentRule) => Promise<Entry | undefined>;

export function createJudgeAgain(doors: { clock: Clock; store: Store; observer: Observer }): JudgeAgain {
  return async (entry, agent) => {
    if (entry.admission === null) return undefined;
    const verdict = await admitCard(entry.body, {
      url: entry.url,
      contentType: fieldValue(entry.fields, 'content-type'),
      rule: agent.card,
      keys: [],
      now: doors.clock.now(),
    });
    if (!verdict.ok) {
      await doors.store.drop(entry);
      doors.observer.record({
        kind: 'notice',
        level: 'warn',
        msg: 'stored card refused under the new policy',
        about: { agent: agent.name, code: verdict.refusal.code, detail: verdict.refusal.detail },
      });
      return undefined;
    }
    const { digest, verdict: signature, facts, warnings } = verdict.value;
    const admission = { ...entry.admission, digest, verdict: signature, facts, warnings, policy: agent.policy };
    const judged: Entry = { ...entry, body: verdict.value.body, admission };
    return (await doors.store.put(judged)) ? judged : undefined;
  };
}
