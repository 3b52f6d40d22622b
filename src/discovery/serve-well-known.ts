import { withMember } from '../http/fields.ts';
import { varyNames } from '../http/vary.ts';
import { callerVersion } from '../bindings/version.ts';
import { type Answer, withFields } from '../kernel/answer.ts';
import type { Ask } from '../kernel/ask.ts';
import type { AgentRule } from '../policy/rules.ts';
import { type Caller, fieldsOfCaller } from './callers.ts';
import { type LocalCard, cardBasePath } from './local-card.ts';
import type { ServeCard } from './serve-card.ts';
import type { ExtendedCards } from './serve-extended.ts';

/** Answers at an agent's well-known path: with its public card, or where its rule says so with the extended one that is held for the caller. */
export type ServeWellKnown = (ask: Ask, agent: AgentRule, caller: Caller) => Answer | Promise<Answer>;

/** How the public card is served. */
interface PublicParts {
  readonly serveCard: ServeCard;
  readonly localCard: LocalCard;
}

export function createServeWellKnown(
  { serveCard, localCard }: PublicParts,
  { held }: Pick<ExtendedCards, 'held'>,
): ServeWellKnown {
  const replaced = (ask: Ask, agent: AgentRule, caller: Caller): Answer | Promise<Answer> => {
    const version = callerVersion(ask.field('a2a-version'), ask.target);
    const basePath = cardBasePath(ask, agent.name);
    const form = { binding: 'HTTP+JSON', id: null } as const;
    const own =
      caller.credential === null ? undefined : held({ ask, form, version, tenant: '', basePath }, agent, caller);
    const unlessOwn = (one: Answer | undefined): Answer | Promise<Answer> => one ?? serveCard(ask, agent, localCard);
    return own instanceof Promise ? own.then(unlessOwn) : unlessOwn(own);
  };
  return (ask, agent, caller) =>
    agent.extended.replacePublic ? replaced(ask, agent, caller) : serveCard(ask, agent, localCard);
}

/**
 * Says of every answer with a card that is not the same for all callers, refusals too, what it depends on: whoever caches between here
 * and the caller must not give one caller's card to another, nor the public one to it, nor any to one from whom the agent is hidden.
 */
export function dependingOnCaller(answer: Answer, { visibleTo, extended }: AgentRule, caller: Caller | null): Answer {
  if (visibleTo === null && !extended.replacePublic) return answer;
  const named = varyNames(answer.fields);
  const wanted = [...fieldsOfCaller(caller), ...(extended.replacePublic ? ['A2A-Extensions'] : [])];
  const missing = wanted.filter((name) => !named.includes(name.toLowerCase()));
  if (missing.length === 0) return answer;
  return withFields(answer, withMember(answer.fields, 'Vary', missing.join(', ')));
}
