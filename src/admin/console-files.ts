import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The console's page: every file of it, by the path that it is served at. What is not in here is not served. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>;

export interface ConsoleFile {
  readonly body: Uint8Array;
  readonly contentType: string;
  /** Strong, of the bytes. */
  readonly etag: string;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Lies beside `src` and beside `dist`. */
const FOLDER = fileURLToPath(new URL('../../console/', import.meta.url));

/** The modules of others that the page uses, by the name that it imports them as. */
const VENDOR = {
  'preact.js': import.meta.resolve('preact'),
  'hooks.js': import.meta.resolve('preact/hooks'),
  'htm.js': import.meta.resolve('htm'),
} as const;

/** Reads the page once, so that no request ever names a file on the disk. Throws where a file of the package is missing. */
export async function readConsoleFiles(): Promise<ConsoleFiles> {
  const found = await readdir(FOLDER, { recursive: true, withFileTypes: true });
  const own = found
    .filter((entry) => entry.isFile() && TYPES[path.extname(entry.name)] !== undefined)
    .map(async (entry) => {
      const file = path.join(entry.parentPath, entry.name);
      const name = path.relative(FOLDER, file).split(path.sep).join('/');
      return [`/console/${name === 'index.html' ? '' : name}`, fileOf(name, await readFile(file))] as const;
    });
  const vendor = Object.entries(VENDOR).map(async ([name, url]) => {
    const text = await readFile(new URL(url), 'utf8');
    return [`/console/vendor/${name}`, fileOf(name, new TextEncoder().encode(forBrowsers(text)))] as const;
  });
  return new Map(await Promise.all([...own, ...vendor]));
}

/** An import map would be inline script, which the page's policy forbids: the one bare name is written out. Source maps stay away. */
const forBrowsers = (text: string): string =>
  text.replace(/\bfrom\s*"preact"/, 'from"./preact.js"').replace(/\n?\/\/# sourceMappingURL=\S+\s*$/, '\n');

function fileOf(name: string, body: Uint8Array): ConsoleFile {
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  return { body, contentType: TYPES[path.extname(name)] ?? 'application/octet-stream', etag };
}
