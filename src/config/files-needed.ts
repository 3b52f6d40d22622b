import type { Finding } from './checks.ts';
import { listenersOf } from './listeners-of.ts';
import { pinsWritten } from './pins.ts';
import { itemPath, memberPath } from './place.ts';
import type { AgentSettings, Settings, TlsSettings } from './schema.ts';
import type { Draft } from './table.ts';

/** A file that a setting names and the daemon reads. */
export interface NeededFile {
  readonly path: Finding['path'];
  readonly file: string;
}

/** Lists every file that must be readable for the configuration to work. */
export function filesNeeded(draft: Draft<Settings>): readonly NeededFile[] {
  const agents = [...(draft?.agents ?? [])].flatMap(([name, agent]) => {
    const path = memberPath('agents', name);
    return [
      ...tlsFiles(path, agent?.tls),
      ...credentialFiles(`${path}.credentials`, agent?.credentials),
      ...credentialFiles(`${path}.extended.credentials`, agent?.extended?.credentials),
    ];
  });
  const origins = (draft?.origins ?? []).flatMap((rule, index) => tlsFiles(itemPath('origins', index), rule?.tls));
  const keys = [...(draft?.keys ?? [])].flatMap(([name, set]) =>
    set?.file ? [{ path: `${memberPath('keys', name)}.file`, file: set.file }] : [],
  );
  return [...agents, ...origins, ...keys, ...pinsWritten(draft), ...listenerFiles(draft)];
}

/** Lists files that may come later: what they say is waited for, and followed by whoever reads them. */
export const filesAwaited = (draft: Draft<Settings>): readonly NeededFile[] =>
  (draft?.registries ?? []).flatMap((registry, index) =>
    registry?.file ? [{ path: `${itemPath('registries', index)}.file`, file: registry.file }] : [],
  );

/** Lists those files and the ones that are read when they are wanted: a change of any of them is a reload. */
export function filesRead(draft: Draft<Settings>): readonly string[] {
  const token = draft?.admin?.token;
  return [
    ...filesNeeded(draft).map(({ file }) => file),
    ...(token?.from === 'file' && token.path !== undefined ? [token.path] : []),
  ];
}

function listenerFiles(draft: Draft<Settings>): readonly NeededFile[] {
  return [...listenersOf(draft)].flatMap(([path, listener]) =>
    (['cert', 'key', 'clientCa', 'crl'] as const).flatMap((role) => {
      const file = listener?.tls?.[role];
      return file === null || file === undefined ? [] : [{ path: `${path}.tls.${role}`, file }];
    }),
  );
}

type Credentials = Draft<AgentSettings['credentials'] | AgentSettings['extended']['credentials']>;

function credentialFiles(path: string, credentials: Credentials): readonly NeededFile[] {
  if (credentials === undefined || typeof credentials === 'string') return [];
  const { static: file, clientCredentials } = credentials;
  const secret = clientCredentials?.clientSecret;
  return [
    ...(file ? [{ path: `${path}.static`, file }] : []),
    ...(secret?.from === 'file' && secret.path !== undefined
      ? [{ path: `${path}.clientCredentials.clientSecret`, file: secret.path }]
      : []),
  ];
}

function tlsFiles(path: string, tls: Draft<TlsSettings | null>): readonly NeededFile[] {
  return (['ca', 'cert', 'key', 'crl'] as const).flatMap((key) => {
    const file = tls?.[key];
    return file === null || file === undefined ? [] : [{ path: `${path}.tls.${key}`, file }];
  });
}
