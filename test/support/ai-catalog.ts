/**
 * What the AI Catalog format (version 0.9) asks of a catalog that an operator publishes of agents of others, as far as it concerns
 * the members that it knows; everything that is wrong, as text. Written from the specification, not from the code.
 */
export function catalogFaults(catalog: unknown): readonly string[] {
  if (!isObject(catalog)) return ['the catalog is no object'];
  const { specVersion, entries, host } = catalog;
  const faults: string[] = [...unknownMembers('the catalog', catalog, TOP)];
  if (typeof specVersion !== 'string' || !/^\d+\.\d+$/.test(specVersion)) faults.push('specVersion is not Major.Minor');
  if (host !== undefined && (!isObject(host) || !isText(host['displayName']))) faults.push('host has no displayName');
  if (!Array.isArray(entries)) return [...faults, 'entries is no array'];
  faults.push(...entries.flatMap((entry: unknown, at) => entryFaults(`entries[${at}]`, entry)));
  const keys = entries.map((entry: unknown) =>
    isObject(entry) ? JSON.stringify([entry['identifier'], entry['version']]) : '',
  );
  if (new Set(keys).size < keys.length) faults.push('an identifier stands twice');
  return faults;
}

const TOP = ['specVersion', 'entries', 'host', 'extensions', 'signature', 'additionalSignatures'];
const ENTRY =
  'identifier type url data displayName description tags version updatedAt extensions publisher digest trustManifests'.split(
    ' ',
  );

function entryFaults(where: string, entry: unknown): readonly string[] {
  if (!isObject(entry)) return [`${where} is no object`];
  const { identifier, type, url, data } = entry;
  const faults = [...unknownMembers(where, entry, ENTRY)];
  if (!isText(identifier) || !/^[a-z][a-z0-9+.-]*:\S+$/i.test(identifier))
    faults.push(`${where}: identifier is no URI`);
  // "An operator that is neither the artifact publisher nor its authorized delegate MUST use a non-`urn:air` identifier"
  else if (identifier.startsWith('urn:air:')) faults.push(`${where}: the name of another publisher`);
  if (!isText(type)) faults.push(`${where}: no type`);
  if ((url === undefined) === (data === undefined)) faults.push(`${where}: not exactly one of url and data`);
  if (url !== undefined && !(isText(url) && URL.canParse(url))) faults.push(`${where}: url is not absolute`);
  return faults;
}

const unknownMembers = (where: string, value: object, known: readonly string[]): readonly string[] =>
  Object.keys(value).flatMap((name) => (known.includes(name) ? [] : [`${where}: ${name} is no member of the format`]));

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
