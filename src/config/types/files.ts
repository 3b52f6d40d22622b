import path from 'node:path';
import type { SecretRef } from '../../kernel/secret.ts';
import { quote } from '../place.ts';
import { good, type Reading, type ScalarType, wrong } from './scalar.ts';

function resolve(text: string, folder: string): Reading<string> {
  if (text.includes('\0')) return wrong('a path holds no NUL character');
  if (text.startsWith('~')) return wrong(`${quote(text)}: "~" is not expanded; write the whole path`);
  return good(path.resolve(folder, text));
}

/** A file, relative to the folder of the configuration file; its value is absolute. */
export const filePath: ScalarType<string> = {
  kind: 'scalar',
  name: 'path',
  range: '',
  bare: false,
  schema: { type: 'string', minLength: 1 },
  read: (text, folder) => (text === '' ? wrong('is empty; write the path of a file') : resolve(text, folder)),
  show: (value) => value,
};

/** Where state is kept. */
export type StatePlace = { readonly kept: 'memory' } | { readonly kept: 'folder'; readonly path: string };

/** A folder, or the word `memory` for none. */
export const statePlace: ScalarType<StatePlace> = {
  kind: 'scalar',
  name: 'folder or "memory"',
  range: '',
  bare: false,
  schema: { type: 'string', minLength: 1 },
  read(text, folder) {
    if (text === 'memory') return good({ kept: 'memory' });
    if (text === '') return wrong('is empty; write a folder, or memory to keep nothing');
    const folderPath = resolve(text, folder);
    return folderPath.ok ? good({ kept: 'folder', path: folderPath.value }) : folderPath;
  },
  show: (value) => (value.kept === 'memory' ? 'memory' : value.path),
};

const ENVIRONMENT_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** A reference to a secret, `file:/path` or `env:NAME`. What is written is never repeated: it may be the secret. */
export const secret: ScalarType<SecretRef> = {
  kind: 'scalar',
  name: 'secret',
  range: 'file:/path, env:NAME',
  bare: false,
  schema: { type: 'string', pattern: '^(file:.+|env:[A-Za-z_][A-Za-z0-9_]*)$' },
  read(text, folder) {
    if (text.startsWith('env:')) {
      const name = text.slice('env:'.length);
      return ENVIRONMENT_NAME.test(name)
        ? good({ from: 'environment', name })
        : wrong('env: is followed by the name of a variable: env:NAME');
    }
    if (!text.startsWith('file:')) return wrong('a secret is never written here; write file:/path or env:NAME');
    return secretPath(text, folder);
  },
  show: (value) => (value.from === 'file' ? `file:${value.path}` : `env:${value.name}`),
};

/** A secret that is a file, because it is read again when it changes: `file:/path`. */
export const secretFile: ScalarType<string> = {
  kind: 'scalar',
  name: 'secret file',
  range: 'file:/path',
  bare: false,
  schema: { type: 'string', pattern: '^file:.+$' },
  read(text, folder) {
    if (!text.startsWith('file:')) return wrong('a secret is never written here; write file:/path');
    const read = secretPath(text, folder);
    return read.ok ? good(read.value.path) : read;
  },
  show: (value) => `file:${value}`,
};

/** A file that is read again when it changes: `file:/path`. */
export const pinsFile: ScalarType<string> = {
  kind: 'scalar',
  name: 'file',
  range: 'file:/path',
  bare: false,
  schema: { type: 'string', pattern: '^file:.+$' },
  read(text, folder) {
    if (!text.startsWith('file:')) return wrong(`write file:${text === '' ? '/path' : text}`);
    const read = secretPath(text, folder);
    return read.ok ? good(read.value.path) : read;
  },
  show: (value) => `file:${value}`,
};

function secretPath(text: string, folder: string): Reading<{ readonly from: 'file'; readonly path: string }> {
  const written = text.slice('file:'.length);
  if (written === '') return wrong('file: is followed by a path: file:/path');
  // "file://run/token" is a URL with a host; the path that was meant is not certain.
  if (written.startsWith('//')) return wrong('file: is followed by a path, not by a URL; write file:/path');
  const resolved = resolve(written, folder);
  return resolved.ok
    ? good({ from: 'file', path: resolved.value })
    : wrong('file: is followed by the whole path: file:/path');
}
