import { open } from 'node:fs/promises';
import type { Secrets } from '../ports/callers.ts';

/** No token or client secret is longer. */
const LONGEST = 16 * 1024;

/** Reads secrets from files and the environment; white space around one is an editor's. */
export const createSecrets = (env: NodeJS.ProcessEnv): Secrets => ({
  async read(secret) {
    const text = secret.from === 'environment' ? env[secret.name] : await readSome(secret.path);
    const value = text?.trim() ?? '';
    // A second line would be a second field of the request.
    return value === '' || /[^\x21-\x7e]/.test(value) ? undefined : value;
  },
});

async function readSome(path: string): Promise<string | undefined> {
  try {
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(LONGEST), 0, LONGEST, 0);
      return bytesRead === LONGEST ? undefined : buffer.toString('utf8', 0, bytesRead);
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}
