import { canonicalIp } from '../kernel/address-literal.ts';
import { formatAddress, type ListenAddress } from '../kernel/listen-address.ts';
import { checkCredentials } from './check-credentials.ts';
import { checkKeys } from './check-keys.ts';
import { checkPrincipals } from './check-principals.ts';
import { checkRegistries } from './check-registries.ts';
import { listenersOf } from './listeners-of.ts';
import { memberPath, itemPath } from './place.ts';
import { type AgentSettings, CARD_KEYS, type OriginSettings, type Settings, type TlsSettings } from './schema.ts';
import type { Draft, Row } from './table.ts';
import { isLoopback, overlaps } from './types/addresses.ts';

/** What is wrong with settings together, though each is right alone. The loader knows where each path stands. */
export interface Finding {
  readonly path: string;
  readonly message: string;
}

/** Checks what concerns several settings; whatever could not be read is left out. */
export function checkTogether(draft: Draft<Settings>): readonly Finding[] {
  if (draft === undefined) return [];
  const agents = [...(draft.agents ?? [])].flatMap(([name, agent]) =>
    checkAgent(memberPath('agents', name), name, agent),
  );
  const origins = (draft.origins ?? []).flatMap((rule, index) => checkOrigin(itemPath('origins', index), rule));
  return [
    ...agents,
    ...origins,
    ...checkKeys(draft),
    ...checkCredentials(draft),
    ...checkPrincipals(draft),
    ...checkRegistries(draft),
    ...checkDuplicates(draft.origins ?? []),
    ...checkCache(draft.cache),
    ...checkListeners(draft),
    ...checkListenerTls(draft),
    ...checkAliases(draft),
  ];
}

/** Names that the listeners of the whole daemon have. */
const LISTENERS: readonly string[] = ['agents', 'ops', 'admin'];

function checkAgent(path: string, name: string, agent: Draft<AgentSettings>): readonly Finding[] {
  if (agent === undefined) return [];
  const found: Finding[] = [];
  if (agent.listen && LISTENERS.includes(name)) {
    found.push({
      path: `${path}.listen`,
      message: `the daemon has a listener called ${name} itself; give the agent another name`,
    });
  }
  for (const key of ['origin', 'card'] as const) {
    found.push(...checkCleartext(`${path}.${key}`, agent[key]?.pattern?.scheme, agent.unsafeCleartext));
  }
  return [...found, ...checkTls(`${path}.tls`, agent.tls)];
}

function checkOrigin(path: string, rule: Draft<OriginSettings>): readonly Finding[] {
  if (rule === undefined) return [];
  const idle =
    rule.content === 'none' && rule.listen
      ? [
          {
            path: `${path}.listen`,
            message: 'serves nothing with content: none; leave it out, or write content: card or any',
          },
        ]
      : [];
  const many =
    rule.match?.pattern?.wildcard === true && rule.listen
      ? [
          {
            path: `${path}.listen`,
            message: 'serves one origin, and the wildcard in match stands for many; name the host',
          },
        ]
      : [];
  return [
    ...idle,
    ...many,
    ...checkContent(path, rule),
    ...checkCleartext(`${path}.match`, rule.match?.pattern?.scheme, rule.unsafeCleartext),
    ...checkTls(`${path}.tls`, rule.tls),
  ];
}

/** What is said of cards means nothing where there are none: whoever wrote it believes that it protects. */
function checkContent(path: string, rule: NonNullable<Draft<OriginSettings>>): readonly Finding[] {
  const { content } = rule;
  if (content === undefined || content === 'card') return [];
  const given = new Map<string, unknown>(Object.entries(rule));
  return Object.entries(CARD_KEYS.rows).flatMap(([key, row]) =>
    isDefault(row, given.get(key))
      ? []
      : [{ path: `${path}.${key}`, message: `is for cards, and content: ${content} has none; write content: card` }],
  );
}

function isDefault({ node, fallback }: Row, value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (node.kind === 'scalar') return String(node.show(value)) === fallback;
  if (node.kind === 'section') {
    const given = new Map<string, unknown>(Object.entries(value));
    return Object.entries(node.rows).every(([key, row]) => isDefault(row, given.get(key)));
  }
  return Array.isArray(value) ? value.length === 0 : Object.values(value).every((each) => each === null);
}

/** A host name leads to one place. */
function checkAliases({ agents, listen }: NonNullable<Draft<Settings>>): readonly Finding[] {
  const taken = new Map<string, string>([['localhost', 'the listener itself']]);
  for (const name of listen?.names ?? []) if (name !== undefined) taken.set(name, 'listen.names');
  return [...(agents ?? [])].flatMap(([name, agent]) =>
    (agent?.hosts ?? []).flatMap((host, index) => {
      if (host === undefined) return [];
      const path = itemPath(`${memberPath('agents', name)}.hosts`, index);
      const other = canonicalIp(host) === null ? taken.get(host) : 'every agent; an address is no name of one';
      taken.set(host, path);
      return other === undefined ? [] : [{ path, message: `${host} belongs to ${other}; write a name of its own` }];
    }),
  );
}

function checkCleartext(path: string, scheme: string | undefined, allowed: boolean | undefined): readonly Finding[] {
  if (scheme !== 'http' || allowed !== false) return [];
  return [
    {
      path,
      message: 'is http://, which anyone on the way can change; write https://, or unsafeCleartext: true beside it',
    },
  ];
}

function checkTls(path: string, tls: Draft<TlsSettings | null>): readonly Finding[] {
  if (tls === null || tls === undefined) return [];
  if (tls.cert && tls.key === null)
    return [{ path: `${path}.cert`, message: 'needs its private key; write key: file:/path beside it' }];
  if (tls.key && tls.cert === null)
    return [{ path: `${path}.key`, message: 'needs its certificate; write cert: beside it' }];
  return [];
}

function checkDuplicates(rules: readonly Draft<OriginSettings>[]): readonly Finding[] {
  const matches = rules.map((rule) => rule?.match?.origin);
  return matches.flatMap((match, index) => {
    const first = matches.indexOf(match);
    if (match === undefined || first === index) return [];
    return [
      {
        path: `${itemPath('origins', index)}.match`,
        message: `is the same as ${itemPath('origins', first)}.match; write one rule`,
      },
    ];
  });
}

function checkCache(cache: Draft<Settings['cache']>): readonly Finding[] {
  if (cache?.minTtl === undefined || cache.maxTtl === undefined || cache.minTtl <= cache.maxTtl) return [];
  return [{ path: 'cache.minTtl', message: 'is more than cache.maxTtl; write the floor below the ceiling' }];
}

function checkListeners(draft: NonNullable<Draft<Settings>>): readonly Finding[] {
  const opened = [...listenersOf(draft)].flatMap(([path, listener]) => {
    const address = listener?.address;
    return isWhole(address) ? [[path, address] as const] : [];
  });
  return opened.flatMap(([path, address], index) => {
    const [taken] = opened.slice(0, index).find(([, other]) => overlaps(address, other)) ?? [];
    if (taken === undefined) return [];
    return [{ path, message: `${formatAddress(address)} is taken by ${taken}; ${another(address)}` }];
  });
}

/** A revocation list says something of clients only where they are asked for certificates. */
function checkListenerTls(draft: NonNullable<Draft<Settings>>): readonly Finding[] {
  return [...listenersOf(draft)].flatMap(([path, listener]) =>
    listener?.tls?.crl && listener.tls.clientCa === null
      ? [{ path: `${path}.tls.crl`, message: 'needs clientCa: clients are asked for no certificate without it' }]
      : [],
  );
}

const another = ({ kind }: ListenAddress): string =>
  kind === 'unix' ? 'write another path' : 'write another port, or 0 for a free one';

const isWhole = (address: Draft<ListenAddress>): address is ListenAddress => address?.kind !== undefined;

/** What is allowed and may still surprise. */
export function doubts(settings: Settings): readonly Finding[] {
  const found: Finding[] = [];
  const admin = settings.listen.admin.address;
  if (admin.kind === 'tcp' && !isLoopback(admin.host)) {
    found.push({
      path: 'listen.admin',
      message: 'the admin listener can be reached from other machines; 127.0.0.1 or ::1 keeps it here',
    });
  }
  return [
    ...found,
    ...settings.origins.flatMap((rule, index) => wideOpen(itemPath('origins', index), rule.unsafeAddresses)),
    ...[...settings.agents].flatMap(([name, agent]) => wideOpen(memberPath('agents', name), agent.unsafeAddresses)),
  ];
}

function wideOpen(path: string, blocks: readonly string[]): readonly Finding[] {
  const open = blocks.find((block) => block.endsWith('/0'));
  if (open === undefined) return [];
  return [
    {
      path: `${path}.unsafeAddresses`,
      message: `${open} lets this reach every address, cloud metadata included; write the blocks that are meant`,
    },
  ];
}
