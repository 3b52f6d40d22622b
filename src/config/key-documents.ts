import { memberPath } from './place.ts';
import type { Settings } from './schema.ts';
import type { Draft } from './table.ts';

/** The documents of the key sets that are files or text, by the set's name. */
export type KeyDocuments = ReadonlyMap<string, Uint8Array>;

/** What there is to say of a document that should hold keys. */
export type KeyInspection =
  | { readonly ok: true; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly why: string };

/** Reads a document as the judge of cards will. */
export type InspectKeys = (document: Uint8Array) => Promise<KeyInspection>;

export interface ReadKeys {
  readonly documents: KeyDocuments;
  readonly problems: readonly KeyFinding[];
  readonly warnings: readonly KeyFinding[];
}

interface KeyFinding {
  readonly path: string;
  readonly message: string;
}

interface Doors {
  readonly readFile: (path: string) => Promise<Uint8Array>;
  readonly inspectKeys: InspectKeys;
}

/** Reads every key set that is a file or text, and says what is wrong with it. A file that cannot be read is reported elsewhere. */
export async function readKeys(draft: Draft<Settings>, { readFile, inspectKeys }: Doors): Promise<ReadKeys> {
  const documents = new Map<string, Uint8Array>();
  const problems: KeyFinding[] = [];
  const warnings: KeyFinding[] = [];
  for (const [name, set] of draft?.keys ?? []) {
    const member = set?.file ? 'file' : 'inline';
    const path = `${memberPath('keys', name)}.${member}`;
    const document = set?.file ? await readFile(set.file).catch(() => null) : encode(set?.inline);
    if (document === null) continue;
    const inspection = await inspectKeys(document);
    if (inspection.ok) {
      documents.set(name, document);
      warnings.push(...inspection.warnings.map((message) => ({ path, message })));
    } else problems.push({ path, message: `holds no keys: ${inspection.why}` });
  }
  return { documents, problems, warnings };
}

const encode = (text: string | null | undefined): Uint8Array | null =>
  text === null || text === undefined ? null : new TextEncoder().encode(text);
