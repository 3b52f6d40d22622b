import { type Json, type JsonObject, isArray, isObject, present, quote } from '../card/json.ts';
import { scanJson } from '../card/scan.ts';
import { type Url, urlId } from '../kernel/ids.ts';
import { type Listing, RegistryError } from '../kernel/registry.ts';
import type { ReadRegistry } from '../ports/registries.ts';
import { type Stated, isStricter, statusOf, stricter } from './lifecycle.ts';
import { compareReleases } from './release.ts';

/** "A depth limit of 4 is RECOMMENDED" for nested catalogs; the outermost counts as the first. */
const DEEPEST = 4;
/** Catalogs of one registry, nested ones included; a registry of thousands of agents is cut by department, not by agent. */
const MOST_CATALOGS = 64;
/** Entries of one registry, over all its catalogs. */
const MOST_ENTRIES = 20_000;
/** Deeper nesting is no catalog: four catalogs inside one another, each in an entry of a list. */
const JSON_DEPTH = 64;

const CATALOG_TYPE = 'application/ai-catalog+json';
/** An A2A card, by the format's name for it and by the one that it reserves for any agent's card. */
const CARD_TYPES: ReadonlySet<string> = new Set(['application/a2a-agent-card+json', 'application/agent-card+json']);

type Open = Parameters<ReadRegistry>[1]['open'];

interface Found extends Listing {
  /** What orders the versions of one identifier. */
  readonly version: string | undefined;
  readonly updatedAt: string | undefined;
}

/** Where a walk through nested catalogs is. */
interface Place {
  /** Where the document came from; relative URLs are relative to it. Null for a file. */
  readonly base: Url | null;
  readonly depth: number;
  /** Every catalog on the way here: one of them again is a cycle. */
  readonly path: readonly Url[];
  readonly stated: Stated;
  /** Identifiers of the entries on the way here: an entry that is a catalog stands for the card in it. */
  readonly within: readonly string[];
}

/**
 * Reads what an AI Catalog (versions 0.9 and 1.x) says of some identifiers, nested catalogs included. Nothing else in it is looked at,
 * so that a fault in a stranger's entry takes no agent of ours away.
 * @param open asked for nested catalogs; one that cannot be had ends the walk, since what is missing may be a revocation.
 * @throws RegistryError
 */
export const readCatalog: ReadRegistry = async (document, { base, identifiers, open }) => {
  const walk = new Walk(identifiers, open);
  const path = base === null ? [] : [base];
  await walk.catalog(parse(document), { base, depth: 1, path, stated: LISTED, within: [] });
  return walk.listings();
};

const LISTED: Stated = { status: 'approved', word: 'listed' };

function parse(document: Uint8Array): Json {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(document);
  } catch {
    throw new RegistryError('it is not UTF-8');
  }
  const scan = scanJson(text, JSON_DEPTH);
  if (scan.ok) return scan.value;
  throw new RegistryError(`it is no JSON: line ${scan.fault.line}, column ${scan.fault.column}: ${scan.fault.what}`);
}

class Walk {
  readonly #wanted: ReadonlySet<string>;
  readonly #open: Open;
  readonly #found = new Map<string, Found>();
  #catalogs = 0;
  #entries = 0;

  constructor(wanted: ReadonlySet<string>, open: Open) {
    this.#wanted = wanted;
    this.#open = open;
  }

  listings(): ReadonlyMap<string, Listing> {
    return new Map([...this.#found].map(([id, { status, card, said }]) => [id, { status, card, said }]));
  }

  async catalog(value: Json, place: Place): Promise<void> {
    this.#catalogs += 1;
    if (this.#catalogs > MOST_CATALOGS) throw new RegistryError(`it has more than ${MOST_CATALOGS} nested catalogs`);
    for (const entry of entriesOf(value)) {
      this.#entries += 1;
      if (this.#entries > MOST_ENTRIES) throw new RegistryError(`it has more than ${MOST_ENTRIES} entries`);
      if (isObject(entry)) await this.#entry(entry, place);
    }
  }

  async #entry(entry: JsonObject, place: Place): Promise<void> {
    const identifier = text(entry, 'identifier');
    // `mediaType` is what the member was called before the format's first release.
    const type = (text(entry, 'type') ?? text(entry, 'mediaType') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
    const stated = stricter(place.stated, statusOf(entry));
    const within = identifier === undefined ? place.within : [...place.within, identifier];
    if (type === CATALOG_TYPE) return this.#nested(entry, { ...place, stated, within });
    if (!CARD_TYPES.has(type)) return;
    for (const id of within) if (this.#wanted.has(id)) this.#note(id, foundIn(entry, stated, place.base));
  }

  async #nested(entry: JsonObject, place: Place): Promise<void> {
    if (place.depth >= DEEPEST) throw new RegistryError(`its catalogs are nested deeper than ${DEEPEST}`);
    const depth = place.depth + 1;
    const inline = present(entry, 'data') ?? present(entry, 'inline');
    if (inline !== undefined) return this.catalog(inline, { ...place, depth });
    const url = resolve(text(entry, 'url'), place.base);
    if (url === null) return;
    if (place.path.includes(url)) throw new RegistryError(`${url} contains itself`);
    const document = await this.#open(url);
    // What was never let in approves nothing, and takes nothing away from what was.
    if (document === null) return;
    await this.catalog(parse(document), { ...place, base: url, depth, path: [...place.path, url] });
  }

  /**
   * Of several versions the latest counts: it is the one that a client of the catalog takes. Where nothing orders two of them the
   * stricter one does, so that a second entry takes no revocation back; and where they are at two places, neither place is known.
   */
  #note(id: string, found: Found): void {
    const before = this.#found.get(id);
    const order = before === undefined ? 1 : compareReleases(found, before);
    if (before === undefined || order > 0) this.#found.set(id, found);
    else if (order === 0) this.#found.set(id, unordered(found, before));
  }
}

function unordered(one: Found, other: Found): Found {
  const strict = isStricter(one, other) ? one : other;
  if (one.card === other.card) return strict;
  const said = `${strict.said}, in two entries that nothing orders`;
  return { ...strict, status: atLeastUnknown(strict.status), card: null, said };
}

function foundIn(entry: JsonObject, { status, word }: Stated, base: Url | null): Found {
  const [version, updatedAt] = [text(entry, 'version'), text(entry, 'updatedAt')];
  const card = resolve(text(entry, 'url'), base);
  const said = card === null ? `${word}, without a URL that can be fetched` : word;
  return { status: card === null ? atLeastUnknown(status) : status, card, said, version, updatedAt };
}

/** What has no place cannot be fetched; what is retired or revoked is so without one. */
const atLeastUnknown = (status: Found['status']): Found['status'] =>
  status === 'retired' || status === 'revoked' ? status : 'unknown';

function entriesOf(value: Json): readonly Json[] {
  if (!isObject(value)) throw new RegistryError('it is no JSON object');
  const version = present(value, 'specVersion');
  // "Reject documents whose major version is higher than the highest major version they support".
  if (typeof version === 'string' && !/^[01]\.\d+(?:\.\d+)?$/.test(version))
    throw new RegistryError(`it is of version ${quote(version)}; 0.9 and 1.x are read`);
  if (typeof version !== 'string') throw new RegistryError('it has no specVersion, so it is no AI Catalog');
  const entries = present(value, 'entries');
  if (!isArray(entries ?? null)) throw new RegistryError('its entries are no list');
  return entries as readonly Json[];
}

const text = (object: JsonObject, name: string): string | undefined => {
  const value = present(object, name);
  return typeof value === 'string' ? value : undefined;
};

/** Null where there is no URL that a fetch could begin with. */
function resolve(value: string | undefined, base: Url | null): Url | null {
  if (value === undefined) return null;
  const url = URL.parse(value, base ?? undefined);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return null;
  if (url.username !== '' || url.password !== '') return null;
  url.hash = '';
  return urlId(url.href);
}
