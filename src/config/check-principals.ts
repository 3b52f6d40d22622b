import type { Finding } from './checks.ts';
import { itemPath, memberPath } from './place.ts';
import type { AgentSettings, IssuerSettings, Settings } from './schema.ts';
import type { Draft } from './table.ts';

/** Checks who is known, and who may see what, against each other. */
export function checkPrincipals(draft: NonNullable<Draft<Settings>>): readonly Finding[] {
  const issuers = draft.principals?.issuers ?? [];
  return [
    ...issuers.flatMap((issuer, index) => checkIssuer(itemPath('principals.issuers', index), issuer, draft)),
    ...checkTwice(issuers),
    ...[...(draft.agents ?? [])].flatMap(([name, agent]) => checkVisibleTo(memberPath('agents', name), agent)),
  ];
}

function checkIssuer(
  path: string,
  issuer: Draft<IssuerSettings>,
  { origins }: NonNullable<Draft<Settings>>,
): readonly Finding[] {
  const found: Finding[] = [];
  if (issuer?.audience?.length === 0)
    found.push({
      path: `${path}.audience`,
      message: 'is empty; write what aud must be in tokens for Cardea: audience: [cardea]',
    });
  const pattern = issuer?.jwks?.pattern;
  const isMeant = (origins ?? []).some(
    (rule) =>
      rule?.match?.pattern?.host === pattern?.host &&
      rule?.match?.pattern?.port === pattern?.port &&
      rule?.unsafeCleartext !== false,
  );
  if (pattern?.scheme === 'http' && !isMeant)
    found.push({
      path: `${path}.jwks`,
      message:
        'is http://, where anyone on the way can put in a key; write https://, or a rule with content: none and unsafeCleartext: true for its origin',
    });
  return found;
}

function checkTwice(issuers: readonly Draft<IssuerSettings>[]): readonly Finding[] {
  const names = issuers.map((issuer) => issuer?.issuer);
  return names.flatMap((name, index) =>
    name === undefined || names.indexOf(name) === index
      ? []
      : [{ path: `${itemPath('principals.issuers', index)}.issuer`, message: 'is configured twice; write it once' }],
  );
}

function checkVisibleTo(path: string, agent: Draft<AgentSettings>): readonly Finding[] {
  return (agent?.visibleTo ?? []).flatMap((one, index) =>
    one !== undefined && Object.values(one).every((value) => value === null)
      ? [
          {
            path: itemPath(`${path}.visibleTo`, index),
            message: 'names nobody; write a tenant, principal, scope or role',
          },
        ]
      : [],
  );
}
