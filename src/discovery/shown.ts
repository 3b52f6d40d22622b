import { meetsSecurity } from '../card/security.ts';
import type { Ask } from '../kernel/ask.ts';
import { NO_END } from '../kernel/principal.ts';
import { type Outcome, accepted, refuse, refused } from '../kernel/refusal.ts';
import { type EpochMs, epochMs } from '../kernel/units.ts';
import { refuseAudience } from '../policy/audience.ts';
import type { AgentRule, OwnCredential, Rules } from '../policy/rules.ts';
import { readToken } from '../policy/token.ts';
import { type Caller, type Callers, readCredential, readMembers } from './callers.ts';
import type { OwnCredentials } from './own-credentials.ts';
import type { ShownName } from './partition.ts';
import type { PublicCard } from './public-card.ts';
import { NOTHING_SHOWN, type Showable } from './showing.ts';

/** What an agent will be shown for one caller, and by what name it stands in keys. The text itself is got when it is sent. */
export interface Shown extends Showable {
  readonly name: ShownName;
  /** When what is shown ends, as far as it says so. */
  readonly until: EpochMs;
}

interface Parts {
  readonly callers: Callers;
  readonly own: OwnCredentials;
  readonly rules: () => Pick<Rules, 'issuers'>;
}

/** Decides what an agent is shown for a caller, or why nothing may be: by its rule, its card's schemes and the credential's audience. */
export function decideShown(
  parts: Parts,
  { ask, caller, agent, card }: { ask: Ask; caller: Caller; agent: AgentRule; card: PublicCard },
): Outcome<Shown> {
  const { credentials } = agent.extended;
  const shown =
    credentials === 'forward'
      ? forwarded(parts, { ask, caller, agent })
      : accepted(credentials === 'none' ? NOTHING : ownShown(parts.own, credentials));
  if (!shown.ok) return shown;
  const proofs = { authorization: schemeOf(shown.value.name), certificate: agent.egress.tls?.cert !== undefined };
  if (meetsSecurity(card.security, proofs)) return shown;
  return refused(
    refuse(
      'extended-not-supported',
      `The agent's card declares no security scheme that ${schemeOf(shown.value.name) ?? 'no credential'} meets, so nothing is shown to it.`,
    ),
  );
}

const NOTHING: Shown = { ...NOTHING_SHOWN, name: { by: 'none' }, until: NO_END };

const ownShown = (own: OwnCredentials, credential: OwnCredential): Shown => ({
  ...own.show(credential),
  name: { by: credential.by, name: credential.name },
  until: NO_END,
});

/** "Before forwarding, a JWT's `aud` is read even where no issuer is configured." */
function forwarded(
  { callers, rules }: Parts,
  { ask, caller, agent }: { ask: Ask; caller: Caller; agent: AgentRule },
): Outcome<Shown> {
  const field = ask.field('authorization');
  const credential = readCredential(field);
  if (credential === undefined || field === undefined) {
    return refused(
      refuse('principal-required', 'An extended card is for whoever shows the agent a credential; send Authorization.'),
    );
  }
  const wrong = refuseAudience(field, agent, rules().issuers);
  if (wrong !== undefined) return refused(wrong);
  const isOwn = caller.credential !== null && readCredential(ask.field('proxy-authorization')) === undefined;
  const hash = isOwn ? caller.credential : callers.hashCredential(credential);
  const verified = caller.principal.kind === 'verified' && caller.credential === hash;
  return accepted({
    name: { by: 'caller', scheme: credential.scheme, hash, verified },
    until: verified ? caller.principal.until : endOf(credential.value),
    authorization: async () => accepted({ field, isNew: true }),
    another: async () => undefined,
  });
}

/** What a token says of its end is believed where it shortens what is kept. */
function endOf(value: string): EpochMs {
  const reading = readToken(value, readMembers);
  const exp = reading.is === 'jwt' ? reading.token.claims['exp'] : undefined;
  return typeof exp === 'number' && Number.isFinite(exp) ? epochMs(exp * 1000) : NO_END;
}

const schemeOf = (name: ShownName): string | null =>
  name.by === 'none' ? null : name.by === 'caller' ? name.scheme : 'bearer';
