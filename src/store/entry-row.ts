import type { Admission, CardFacts, Entry } from '../kernel/entry.ts';
import type { Fields } from '../kernel/fields.ts';
import { type EntryKey, type Tag, agentName, tag, urlId } from '../kernel/ids.ts';
import type { Alike } from './alike.ts';

/**
 * What an entry says for itself, as a row without names: there is one for each entry. The functions that write and read it name every
 * member, so that the compiler objects to one that is new and left out.
 */
export type Row = readonly [
  agent: Entry['agent'] | Same,
  url: Entry['url'] | Same,
  values: readonly string[],
  etag: Entry['etag'],
  requestedAt: Entry['requestedAt'],
  receivedAt: Entry['receivedAt'],
  initialAge: Entry['initialAge'],
  admission: AdmissionRow | null,
  generation: Entry['generation'],
  tags: readonly (Tag | Same)[],
];

/** Stands for what follows from another member: a key ends in its URL, what is known by its URL has that for its name, and a tag for its name. */
type Same = 0;

type AdmissionRow = readonly [
  digest: Admission['digest'],
  verdict: Admission['verdict'],
  review: Admission['review'],
  facts: FactsRow,
  receipt: Admission['receipt'],
  at: Admission['at'],
  warnings: Admission['warnings'],
];

type FactsRow = readonly [
  name: string,
  version: string,
  protocolVersion: string,
  interfaceUrl: string | null,
  extended: boolean,
];

/** Members that are left over: there are none. */
type Nothing = Record<string, never>;

/** Writes down what is neither in its key, its bytes, nor `Alike`. */
export function rowOf(entry: Omit<Entry, 'body' | 'coded'>): Row {
  const { key, variant: _variant, vary: _vary, status: _status, lifetime: _lifetime, ...own } = entry;
  const { agent, url, fields, etag, requestedAt, receivedAt, initialAge, admission, generation, tags, ...more } = own;
  more satisfies Nothing;
  const values = fields.filter((_, at) => at % 2 === 1);
  const admitted = admission === null ? null : admissionRow(admission);
  const name = isSame(agent, url) ? 0 : agent;
  const found = tags.map((each) => (each === `agent:${agent}` ? 0 : each));
  return [
    name,
    isSame(urlIn(key), url) ? 0 : url,
    values,
    etag,
    requestedAt,
    receivedAt,
    initialAge,
    admitted,
    generation,
    found,
  ];
}

function admissionRow(admission: Admission): AdmissionRow {
  const { digest, verdict, review, facts, policy: _policy, receipt, at, warnings, ...more } = admission;
  more satisfies Nothing;
  return [digest, verdict, review, factsRow(facts), receipt, at, warnings];
}

function factsRow({ name, version, protocolVersion, interfaceUrl, extended, ...more }: CardFacts): FactsRow {
  more satisfies Nothing;
  return [name, version, protocolVersion, interfaceUrl ?? null, extended];
}

/** The entry that such a row was made of. */
export function entryOfRow(row: Row, { key, body, alike }: Pick<Entry, 'key' | 'body'> & { alike: Alike }): Entry {
  const [, , values, etag, requestedAt, receivedAt, initialAge, admission, generation] = row;
  const { variant, vary, status, lifetime, names, policy } = alike;
  const url = urlOf(row, key);
  return {
    key,
    variant,
    vary,
    agent: agentOf(row, url),
    url,
    status,
    fields: fieldsOf(names, values),
    body,
    etag,
    requestedAt,
    receivedAt,
    initialAge,
    lifetime,
    admission: admission === null || policy === null ? null : { ...admissionOf(admission), policy },
    generation,
    tags: tagsOf(row, key),
  };
}

const isSame = (one: string | null, other: string): boolean => one === other;

/** The last part of a key, which nearly always is the URL. */
const urlIn = (key: EntryKey): Entry['url'] => urlId(key.slice(key.lastIndexOf('\0') + 1));

const urlOf = ([, url]: Row, key: EntryKey): Entry['url'] => (url === 0 ? urlIn(key) : url);

const agentOf = ([agent]: Row, url: Entry['url']): Entry['agent'] => (agent === 0 ? agentName(url) : agent);

/** The tags of the entry that such a row was made of. */
export function tagsOf(row: Row, key: EntryKey): Entry['tags'] {
  const agent = agentOf(row, urlOf(row, key));
  return row[9].map((each) => (each === 0 ? tag(`agent:${agent}`) : each));
}

function admissionOf(row: AdmissionRow): Omit<Admission, 'policy'> {
  const [digest, verdict, review, facts, receipt, at, warnings] = row;
  return { digest, verdict, review, facts: factsOf(facts), receipt, at, warnings };
}

function factsOf([name, version, protocolVersion, interfaceUrl, extended]: FactsRow): CardFacts {
  const facts = { name, version, protocolVersion, extended };
  return interfaceUrl === null ? facts : { ...facts, interfaceUrl };
}

const fieldsOf = (names: readonly string[], values: readonly string[]): Fields =>
  names.flatMap((name, at) => [name, values[at] ?? '']);
