import { digestCard } from './digest.ts';
import type { Interface } from './interfaces.ts';
import { allInterfaces, interfaceUrl } from './interfaces.ts';
import type { JsonObject } from './json.ts';
import { isArray, isObject, own, pointerTo, quote } from './json.ts';
import { isPrivateHost } from './private-host.ts';
import { readMember, readText } from './schema/member-value.ts';
import { readRequirement } from './schema/requirements.ts';
import { describeFinding, validateCard } from './schema/validate.ts';
import { findSecrets } from './secrets.ts';
import type { CardVersion } from './version.ts';
import { tableOf } from './version.ts';

/** One line of the publication checklist that a card does not meet. */
export interface LintFinding {
  /** `error`: clients fail or someone is harmed. `warning`: clients or models are misled. */
  readonly level: 'error' | 'warning';
  readonly rule:
    | 'schema' // what `schema: strict` would refuse
    | 'interface-is-card' // the interface is the card's own address
    | 'interface-https'
    | 'private-host'
    | 'skills' // none, or one that says too little to be chosen by
    | 'security' // requirements and schemes that do not fit together
    | 'secret'
    | 'unsigned'
    | 'content-type'
    | 'https'
    | 'cache'
    | 'version'; // the content changed, the version did not
  readonly pointer: string;
  readonly message: string;
}

/** How the card was published, where it was fetched. */
export interface Publication {
  readonly url: string;
  readonly contentType: string | undefined;
  readonly cacheControl: string | undefined;
  readonly etag: string | undefined;
}

export interface LintTarget {
  readonly card: JsonObject;
  readonly version: CardVersion;
  readonly publication?: Publication;
  /** The card as it was published before. */
  readonly previous?: JsonObject;
}

/** Holds a card against the publication checklist. */
export function lintCard(target: LintTarget): readonly LintFinding[] {
  const { card, version, publication, previous } = target;
  return [
    ...validateCard(card, tableOf(version)).map((found) =>
      finding(found.refusedBy === 'compatible' ? 'error' : 'warning', 'schema', found.pointer, describeFinding(found)),
    ),
    ...lintInterfaces(card, publication),
    ...lintSkills(card),
    ...lintSecurity(card),
    ...findSecrets(card).map(({ pointer, kind }) =>
      finding('error', 'secret', pointer, `this looks like ${kind}; a card is public`),
    ),
    ...lintSignatures(card),
    ...(publication === undefined ? [] : lintPublication(publication)),
    ...(previous === undefined ? [] : lintVersion(card, previous)),
  ];
}

const finding = (
  level: LintFinding['level'],
  rule: LintFinding['rule'],
  pointer: string,
  message: string,
): LintFinding => ({
  level,
  rule,
  pointer,
  message,
});

function lintInterfaces(card: JsonObject, publication: Publication | undefined): readonly LintFinding[] {
  return allInterfaces(card).flatMap((one) => lintInterface(one, publication));
}

function lintInterface(one: Interface, publication: Publication | undefined): readonly LintFinding[] {
  const url = interfaceUrl(one);
  if (url === undefined) return [finding('error', 'interface-https', one.pointer, 'this is no absolute URL')];
  const found: LintFinding[] = [];
  const isCard = url.href === publication?.url || /\/\.well-known\/agent(?:-card)?\.json$/.test(url.pathname);
  if (isCard)
    found.push(
      finding(
        'error',
        'interface-is-card',
        one.pointer,
        "this is the card's own address, not that of the agent's interface",
      ),
    );
  if (url.protocol !== 'https:') found.push(finding('error', 'interface-https', one.pointer, 'an interface is https'));
  if (isPrivateHost(url.hostname))
    found.push(
      finding('error', 'private-host', one.pointer, `${quote(url.hostname)} cannot be reached from elsewhere`),
    );
  return found;
}

/** A model chooses by this text; less than a sentence does not bound what a skill does. */
const SHORTEST_DESCRIPTION = 20;

function lintSkills(card: JsonObject): readonly LintFinding[] {
  const skills = readMember(card, 'skills');
  if (!isArray(skills) || skills.length === 0)
    return [
      finding('warning', 'skills', '/skills', 'the card names no skill, so nobody can tell what the agent is for'),
    ];
  const ids = skills.map((skill) => (isObject(skill) ? readText(skill, 'id') : undefined));
  return skills.flatMap((skill, index) => {
    const pointer = pointerTo('/skills', index);
    const twice =
      ids[index] !== undefined && ids.indexOf(ids[index]) < index
        ? [finding('error', 'skills', `${pointer}/id`, 'an earlier skill has this id')]
        : [];
    return [...(isObject(skill) ? lintSkill(skill, pointer) : []), ...twice];
  });
}

function lintSkill(skill: JsonObject, pointer: string): readonly LintFinding[] {
  const found: LintFinding[] = [];
  const warn = (member: string, message: string): void =>
    void found.push(finding('warning', 'skills', `${pointer}/${member}`, message));
  const isEmptyList = (name: string): boolean => {
    const list = readMember(skill, name);
    return !isArray(list) || list.length === 0;
  };
  if ((readText(skill, 'id') ?? '') === '') warn('id', 'a skill needs an id to be called by');
  if (isEmptyList('tags')) warn('tags', 'a skill without tags is found by nobody');
  if (isEmptyList('examples')) warn('examples', 'examples show when the skill is the right one');
  if ((readText(skill, 'description') ?? '').trim().length < SHORTEST_DESCRIPTION)
    warn('description', 'say in a sentence what the skill does and where it ends');
  return found;
}

function lintSecurity(card: JsonObject): readonly LintFinding[] {
  const schemes = readMember(card, 'securitySchemes');
  const declared = new Set(isObject(schemes) ? Object.keys(schemes) : []);
  return ['securityRequirements', 'security'].flatMap((name) => {
    const list = readMember(card, name);
    return (isArray(list) ? list : []).flatMap((one, index) =>
      [...(readRequirement(one)?.schemes.keys() ?? [])]
        .filter((scheme) => !declared.has(scheme))
        .map((scheme) =>
          finding('error', 'security', `/${name}/${index}`, `the scheme ${quote(scheme)} is required but not declared`),
        ),
    );
  });
}

function lintSignatures(card: JsonObject): readonly LintFinding[] {
  const signatures = own(card, 'signatures');
  return isArray(signatures) && signatures.length > 0
    ? []
    : [finding('warning', 'unsigned', '/signatures', 'nobody can tell who published the card; sign it')];
}

function lintPublication({ url, contentType, cacheControl, etag }: Publication): readonly LintFinding[] {
  const found: LintFinding[] = [];
  const type = (contentType?.split(';', 1)[0] ?? '').trim().toLowerCase();
  if (type !== 'application/json' && type !== 'application/a2a+json') {
    found.push(
      finding(
        'warning',
        'content-type',
        '',
        `the card is served as ${quote(type)}; serve it as application/json or application/a2a+json`,
      ),
    );
  }
  if (!url.startsWith('https:'))
    found.push(finding('error', 'https', '', 'the card is served without TLS: anyone on the way can change it'));
  if (!/(?:^|,)\s*(?:s-maxage|max-age)\s*=/i.test(cacheControl ?? '')) {
    found.push(finding('warning', 'cache', '', 'the answer has no Cache-Control with max-age (A2A 1.0 §8.6)'));
  }
  if (etag === undefined)
    found.push(finding('warning', 'cache', '', 'the answer has no ETag, so every refresh carries the whole card'));
  return found;
}

function lintVersion(card: JsonObject, previous: JsonObject): readonly LintFinding[] {
  if (digestCard(card) === digestCard(previous) || own(card, 'version') !== own(previous, 'version')) return [];
  return [
    finding(
      'warning',
      'version',
      '/version',
      'the content has changed since the previous card, and the version has not',
    ),
  ];
}
