import { constants, open } from 'node:fs/promises';
import { RegistryError } from '../kernel/registry.ts';
import type { Bytes } from '../kernel/units.ts';
import type { FileWatch } from '../ports.ts';
import type { RegistryFiles } from '../ports/registries.ts';

/** A pipe in its place must not hold up whoever reads it. */
const READ = constants.O_RDONLY | constants.O_NONBLOCK;

/** Reads registries that are files. @param watch tells of changes; null where nobody waits for any. */
export const createRegistryFiles = (watch: FileWatch | null): RegistryFiles => ({
  async read(file, most) {
    try {
      return await readBounded(file, most);
    } catch (error) {
      if (error instanceof RegistryError) throw error;
      throw new RegistryError(meaningOf(error), { cause: error });
    }
  },
  watch: (file, changed) => watch?.watch([file], changed) ?? (() => undefined),
});

async function readBounded(file: string, most: Bytes): Promise<Uint8Array> {
  const handle = await open(file, READ);
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) throw new RegistryError('it is no regular file');
    if (stat.size > most) throw new RegistryError(`it is larger than ${most} bytes (limits.cardBytes)`);
    const content = Buffer.alloc(stat.size);
    const { bytesRead } = await handle.read(content, 0, stat.size, 0);
    return content.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

function meaningOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
  if (code === 'ENOENT') return 'it is not there';
  return code === 'EACCES' || code === 'EPERM' ? 'this user may not read it' : code;
}
