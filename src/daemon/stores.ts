import type { FileWatch } from '../ports.ts';
import { readCatalog } from '../registry/ai-catalog.ts';
import { createCoder } from '../store/coder.ts';
import { createExtendedStore } from '../store/extended.ts';
import { createMemoryStore } from '../store/memory.ts';
import { createRegistryFiles } from '../store/registry-files.ts';
import { createSecrets } from '../store/secrets.ts';

/** What is obtained for one caller lives apart from what is for all. */
export const createStores = (options: Parameters<typeof createMemoryStore>[0]) => ({
  memory: createMemoryStore(options),
  extended: createExtendedStore(options),
});

export const createReaders = (files: FileWatch | null) => ({
  coder: createCoder(),
  secrets: createSecrets(process.env),
  registryFiles: createRegistryFiles(files),
  registryReaders: REGISTRY_READERS,
});

/** One for each kind of registry. */
const REGISTRY_READERS = { 'ai-catalog': readCatalog } as const;
