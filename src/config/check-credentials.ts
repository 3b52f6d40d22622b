import type { Finding } from './checks.ts';
import { memberPath } from './place.ts';
import type { AgentSettings, Settings } from './schema.ts';
import type { Draft } from './table.ts';

/** Checks the credentials that agents are shown. */
export const checkCredentials = (draft: NonNullable<Draft<Settings>>): readonly Finding[] =>
  [...(draft.agents ?? [])].flatMap(([name, agent]) => {
    const path = memberPath('agents', name);
    return [
      ...checkOwn(`${path}.credentials`, agent?.credentials, draft),
      ...checkOwn(`${path}.extended.credentials`, agent?.extended?.credentials, draft),
    ];
  });

type Written = Draft<AgentSettings['credentials'] | AgentSettings['extended']['credentials']>;

function checkOwn(
  path: string,
  written: Written,
  { agents, origins }: NonNullable<Draft<Settings>>,
): readonly Finding[] {
  if (written === undefined || typeof written === 'string') return [];
  const { static: file, clientCredentials: client } = written;
  if (file === null && client === null)
    return [{ path, message: 'shows nothing; write static: file:/path, or clientCredentials: { tokenUrl: … }' }];
  if (file !== null && client !== null)
    return [{ path: `${path}.clientCredentials`, message: 'stands beside static; write one of the two' }];
  const pattern = client?.tokenUrl?.pattern;
  const isCovered = (
    one: { readonly host?: string | undefined; readonly port?: number | undefined } | undefined,
  ): boolean => one?.host === pattern?.host && one?.port === pattern?.port;
  const owners = [...(agents ?? []).values()].filter((agent) =>
    isCovered(agent?.origin?.pattern ?? agent?.card?.pattern),
  );
  const rules = (origins ?? []).filter((rule) => isCovered(rule?.match?.pattern));
  if (pattern?.scheme !== 'http' || [...owners, ...rules].some((each) => each?.unsafeCleartext !== false)) return [];
  return [
    {
      path: `${path}.clientCredentials.tokenUrl`,
      message:
        'is http://, where anyone on the way reads the secret; write https://, or a rule with unsafeCleartext: true for its origin',
    },
  ];
}
