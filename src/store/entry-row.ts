import type { Admission, CardFacts, Entry } from '../kernel/entry.ts';
import type { Fields } from '../kernel/fields.ts';
import type { Alike } from './alike.ts';

/**
 * What an entry says for itself, as a row without names: there is one for each entry. The functions that write and read it name every
 * member, so that the compiler objects to one that is new and left out.
 */
export type Row = readonly [
  agent: Entry['agent'],
  url: Entry['url'],
  values: readonly string[],
  etag: Entry['etag'],
  requestedAt: Entry['requestedAt'],
  receivedAt: Entry['receivedAt'],
  initialAge: Entry['initialAge'],
  admission: AdmissionRow | null,
  generation: Entry['generation'],
  tags: Entry['tags'],
];

type AdmissionRow = readonly [
  digest: Admission['digest'],
  verdict: Admission['verdict'],
  review: Admission['review'],
  facts: FactsRow,
  policy: Admission['policy'],
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
export function rowOf(entry: Omit<Entry, 'key' | 'body' | 'coded'>): Row {
  const { variant: _variant, vary: _vary, status: _status, lifetime: _lifetime, ...own } = entry;
  const { agent, url, fields, etag, requestedAt, receivedAt, initialAge, admission, generation, tags, ...more } = own;
  more satisfies Nothing;
  const values = fields.filter((_, at) => at % 2 === 1);
  const admitted = admission === null ? null : admissionRow(admission);
  return [agent, url, values, etag, requestedAt, receivedAt, initialAge, admitted, generation, tags];
}

function admissionRow(admission: Admission): AdmissionRow {
  const { digest, verdict, review, facts, policy, receipt, at, warnings, ...more } = admission;
  more satisfies Nothing;
  return [digest, verdict, review, factsRow(facts), policy, receipt, at, warnings];
}

function factsRow({ name, version, protocolVersion, interfaceUrl, extended, ...more }: CardFacts): FactsRow {
  more satisfies Nothing;
  return [name, version, protocolVersion, interfaceUrl ?? null, extended];
}

/** The entry that such a row was made of. */
export function entryOfRow(row: Row, { key, body, alike }: Pick<Entry, 'key' | 'body'> & { alike: Alike }): Entry {
  const [agent, url, values, etag, requestedAt, receivedAt, initialAge, admission, generation, tags] = row;
  const { variant, vary, status, lifetime, names } = alike;
  return {
    key,
    variant,
    vary,
    agent,
    url,
    status,
    fields: fieldsOf(names, values),
    body,
    etag,
    requestedAt,
    receivedAt,
    initialAge,
    lifetime,
    admission: admission === null ? null : admissionOf(admission),
    generation,
    tags,
  };
}

export const tagsOf = ([, , , , , , , , , tags]: Row): Entry['tags'] => tags;

function admissionOf(row: AdmissionRow): Admission {
  const [digest, verdict, review, facts, policy, receipt, at, warnings] = row;
  return { digest, verdict, review, facts: factsOf(facts), policy, receipt, at, warnings };
}

function factsOf([name, version, protocolVersion, interfaceUrl, extended]: FactsRow): CardFacts {
  const facts = { name, version, protocolVersion, extended };
  return interfaceUrl === null ? facts : { ...facts, interfaceUrl };
}

const fieldsOf = (names: readonly string[], values: readonly string[]): Fields =>
  names.flatMap((name, at) => [name, values[at] ?? '']);
