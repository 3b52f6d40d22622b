import { readFile, stat } from 'node:fs/promises';
import { type SecureContext, createSecureContext } from 'node:tls';
import type { TlsFiles } from '../kernel/egress-rule.ts';
import { RefusalError, refuse } from '../kernel/refusal.ts';

/** A TLS identity as it lies on disk now: connections made under another fingerprint are not shared. */
export interface TlsIdentity {
  readonly fingerprint: string;
  readonly context: SecureContext;
}

/** Reads TLS files, again whenever one of them has changed. */
export interface TlsStore {
  read(files: TlsFiles | null): Promise<TlsIdentity>;
}

// One per distinct set of files in the configuration; a hundred mTLS agents fit, and reloads do not pile up.
const MAX_IDENTITIES = 256;
const ROLES = ['ca', 'cert', 'key', 'crl'] as const;

export function createTlsStore(): TlsStore {
  const held = new Map<string, TlsIdentity>();
  const plain: TlsIdentity = { fingerprint: '', context: createSecureContext({ minVersion: 'TLSv1.2' }) };
  return {
    read: async (files) => {
      if (files === null) return plain;
      const name = ROLES.map((role) => files[role] ?? '').join('\0');
      const fingerprint = await fingerprintOf(files);
      const known = held.get(name);
      if (known?.fingerprint === fingerprint) return known;
      const fresh = { fingerprint, context: await load(files) };
      if (held.size >= MAX_IDENTITIES) held.clear();
      held.set(name, fresh);
      return fresh;
    },
  };
}

/** Path, inode, size and time of change: a Secret's `..data` swap changes the inode, an edit in place the rest. */
async function fingerprintOf(files: TlsFiles): Promise<string> {
  const marks = await Promise.all(
    ROLES.map(async (role) => {
      const path = files[role];
      if (path === undefined) return '';
      const { ino, size, mtimeMs, ctimeMs } = await stat(path).catch((error: unknown) => unreadable(role, path, error));
      return `${path}:${ino}:${size}:${mtimeMs}:${ctimeMs}`;
    }),
  );
  return marks.join('|');
}

async function load(files: TlsFiles): Promise<SecureContext> {
  const [ca, cert, key, crl] = await Promise.all(
    ROLES.map(async (role) => {
      const path = files[role];
      return path === undefined ? undefined : readFile(path).catch((error: unknown) => unreadable(role, path, error));
    }),
  );
  try {
    return createSecureContext({ minVersion: 'TLSv1.2', ca, cert, key, crl });
  } catch (error) {
    const detail = `The files of tls (${ROLES.filter((role) => files[role] !== undefined).join(', ')}) do not make a TLS identity.`;
    throw new RefusalError(refuse('tls-failed', detail), error);
  }
}

function unreadable(role: string, path: string, error: unknown): never {
  throw new RefusalError(refuse('tls-failed', `tls.${role}: ${path} cannot be read.`), error);
}
