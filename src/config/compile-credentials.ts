import type { EgressRule } from '../kernel/egress-rule.ts';
import type { OwnCredential } from '../policy/rules.ts';
import type { AgentSettings } from './schema.ts';
import type { CardUrl } from './types/web.ts';

/** What is written of a credential of Cardea's own. */
type Written = Exclude<AgentSettings['credentials'], string>;

/** Where it stands, and how its token endpoint is reached. */
interface Place {
  readonly name: string;
  readonly egressOf: (tokenUrl: CardUrl) => EgressRule;
}

/** Turns a credential of Cardea's own into a rule; 'none' where neither kind is written, which the checks refuse. */
export function ownCredential(
  { static: file, clientCredentials }: Written,
  { name, egressOf }: Place,
): OwnCredential | 'none' {
  if (file !== null) return { by: 'static', name, file };
  if (clientCredentials === null) return 'none';
  const { tokenUrl, clientId, clientSecret, scope } = clientCredentials;
  return { by: 'client', name, tokenUrl: tokenUrl.url, egress: egressOf(tokenUrl), clientId, clientSecret, scope };
}
