import type { Finding } from './checks.ts';
import { nearest } from './nearest.ts';
import { itemPath, memberPath, quote } from './place.ts';
import type { AgentSettings, RegistrySettings, Settings } from './schema.ts';
import type { Draft } from './table.ts';

/** Checks registries, and what agents say of them and of where their cards are. */
export function checkRegistries(draft: NonNullable<Draft<Settings>>): readonly Finding[] {
  const registries = draft.registries ?? [];
  const names = registries.flatMap((each) => each?.name ?? []);
  return [
    ...[...(draft.agents ?? [])].flatMap(([name, agent]) => checkAgent(memberPath('agents', name), agent, names)),
    ...registries.flatMap((registry, index) => checkRegistry(itemPath('registries', index), registry, draft)),
    ...checkTwice(registries),
  ];
}

const PLACES = ['origin', 'card', 'registry'] as const;

function checkAgent(path: string, agent: Draft<AgentSettings>, names: readonly string[]): readonly Finding[] {
  if (agent === undefined) return [];
  const [first, second] = PLACES.filter((place) => agent[place] !== null);
  return [
    ...(first === undefined ? [{ path, message: NO_PLACE }] : []),
    ...(second === undefined || first === undefined
      ? []
      : [{ path: `${path}.${second}`, message: `stands beside ${first}; write one of the two` }]),
    ...checkEntry(path, agent, names),
    ...checkRisk(path, agent),
  ];
}

const NO_PLACE =
  'has no card; write origin: https://HOST, or card: with the whole URL, or registry: and id: of an entry in a registry';

function checkEntry(
  path: string,
  agent: NonNullable<Draft<AgentSettings>>,
  names: readonly string[],
): readonly Finding[] {
  const { registry, id } = agent;
  if (registry === null && id === null) return [];
  if (registry === null)
    return [{ path: `${path}.id`, message: 'is for an entry of a registry; write registry: beside it' }];
  const found: Finding[] = [];
  if (id === null)
    found.push({ path: `${path}.registry`, message: "needs the identifier of the agent's entry; write id: beside it" });
  if (registry !== undefined && !names.includes(registry))
    found.push({ path: `${path}.registry`, message: undefinedRegistry(registry, names) });
  return [...found, ...checkReach(path, agent)];
}

function undefinedRegistry(name: string, names: readonly string[]): string {
  const near = nearest(name, names);
  const mend = near === null ? '; define it in registries' : `; did you mean ${near}?`;
  return `${quote(name)} is no registry of this file${mend}`;
}

/** Where the agent is, the registry says; how that place is reached is for the rule that lets it be one. */
function checkReach(path: string, agent: NonNullable<Draft<AgentSettings>>): readonly Finding[] {
  const { tls, proxy, unsafeCleartext, unsafeAddresses, credentials } = agent;
  const written = [
    ['tls', tls !== null && tls !== undefined],
    ['proxy', proxy !== null && proxy !== undefined],
    ['unsafeCleartext', unsafeCleartext === true],
    ['unsafeAddresses', (unsafeAddresses ?? []).length > 0],
  ] as const;
  const reach = written.flatMap(([key, isWritten]) =>
    isWritten
      ? [
          {
            path: `${path}.${key}`,
            message: 'stands beside registry; write it for the rule in origins that covers the place',
          },
        ]
      : [],
  );
  if (credentials === undefined || credentials === 'none') return reach;
  const message =
    'stands beside registry: it would go along wherever the registry moves the agent; write origin or card for such an agent';
  return [...reach, { path: `${path}.credentials`, message }];
}

function checkRisk(path: string, { risk, maxStale }: NonNullable<Draft<AgentSettings>>): readonly Finding[] {
  if (risk !== 'high' || maxStale === null || maxStale === undefined || maxStale === 0) return [];
  return [{ path: `${path}.maxStale`, message: 'stands beside risk: high, which serves nothing stale; leave it out' }];
}

function checkRegistry(
  path: string,
  registry: Draft<RegistrySettings>,
  { origins }: NonNullable<Draft<Settings>>,
): readonly Finding[] {
  if (registry === undefined) return [];
  const { url, file } = registry;
  if (url === null && file === null) return [{ path, message: 'is nowhere; write url: or file:' }];
  if (url && file) return [{ path: `${path}.file`, message: 'stands beside url; write one of the two' }];
  const pattern = url?.pattern;
  const isMeant = (origins ?? []).some(
    (rule) =>
      rule?.match?.pattern?.host === pattern?.host &&
      rule?.match?.pattern?.port === pattern?.port &&
      rule?.unsafeCleartext !== false,
  );
  if (pattern?.scheme !== 'http' || isMeant) return [];
  const message =
    'is http://, where anyone on the way can take a revocation out; write https://, or a rule with content: none and unsafeCleartext: true for its origin';
  return [{ path: `${path}.url`, message }];
}

function checkTwice(registries: readonly Draft<RegistrySettings>[]): readonly Finding[] {
  const names = registries.map((registry) => registry?.name);
  return names.flatMap((name, index) =>
    name === undefined || names.indexOf(name) === index
      ? []
      : [
          {
            path: `${itemPath('registries', index)}.name`,
            message: 'is configured twice; give each a name of its own',
          },
        ],
  );
}
