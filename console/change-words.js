/** What a change is, and what deciding on it means, in words. */

/** @import { Change, Pending, Waiting } from './shapes.ts' */

/** Classes of change in the order in which they are read: what gives most away first. @type {ReadonlyMap<string, string>} */
export const CLASSES = new Map([
  ['security', 'What a caller must show'],
  ['endpoint', 'Where the agent is reached'],
  ['signature', 'Who vouches for the card'],
  ['identity', 'Who the agent says it is'],
  ['skill-added', 'A skill that was not there'],
  ['skill-text', 'What a model reads of a skill'],
  ['skill-io', 'What a skill takes and gives'],
  ['skill-removed', 'A skill that is gone'],
  ['capability', 'What the agent can do beyond plain messages'],
  ['extension', 'Extensions it declares'],
  ['protocol', 'Bindings and versions it speaks'],
  ['modes', 'Media types for all skills'],
  ['cosmetic', 'Nothing that a program acts on'],
]);

/** @type {Readonly<Record<string, string>>} */
export const CUES = {
  sends: 'something leaves',
  deletes: 'something is lost',
  pays: 'money moves',
  credentials: 'asks for secrets',
  links: 'an address to follow',
  instructs: 'tells the reader what to do',
  hidden: 'characters that nobody sees',
  script: 'letters outside Latin',
};

/**
 * The changes by class, in the order in which they are read; a class that this page does not know comes last.
 * @param {readonly Change[]} changes
 * @returns {readonly (readonly [name: string, changes: readonly Change[]])[]}
 */
export function byClass(changes) {
  const names = new Set([...CLASSES.keys(), ...changes.map((change) => change.class)]);
  return [...names].flatMap((name) => {
    const found = changes.filter((change) => change.class === name);
    return found.length === 0 ? [] : [/** @type {const} */ ([name, found])];
  });
}

/**
 * Whom a card of a variant is for, to follow what is said of it.
 * @param {Pending['variant']} variant
 */
export function forWhom(variant) {
  if (variant === 'extended') return ', an extended card';
  return variant === 'any' ? '' : `, for callers of A2A ${variant}`;
}

/**
 * What approving does.
 * @param {Pending} pending
 * @param {Pick<Waiting, 'agent' | 'suspended'>} waiting
 * @returns {readonly string[]}
 */
export function approvingMeans({ variant, inForce, url }, { agent, suspended }) {
  if (variant === 'extended')
    return [
      `Every caller to whom ${agent} gives this extended card gets it from its next request on.`,
      'It covers exactly this content: any other content waits again. The public card, and what other callers get, stay as they are.',
    ];
  const whom = variant === 'any' ? `Every caller of ${agent}` : `Callers of ${agent} that speak A2A ${variant}`;
  return [
    inForce === null
      ? `${whom} gets this card from now on; until now there is none.`
      : `${whom} gets this card from now on, in place of the one in force.`,
    `It covers exactly this content, from ${url}: any other content waits again, and so does a lost signature or another place.`,
    'A new signature over the same content needs no new review.',
    ...(suspended === null ? [] : ['Extended cards and calls through Cardea, which are suspended meanwhile, go on.']),
  ];
}

const REJECTING = 'The card in force stays for as long as its origin answers; this one is not offered again.';
const REJECTING_FIRST = 'Nothing is served: this card is not offered again.';
const REJECTING_EXTENDED = 'No caller is given this card, whoever asks: a caller who has one before it keeps that.';

/**
 * What rejecting does.
 * @param {Pending} pending
 * @returns {readonly string[]}
 */
export const rejectingMeans = ({ variant, inForce }) => [
  variant === 'extended' ? REJECTING_EXTENDED : inForce === null ? REJECTING_FIRST : REJECTING,
  'You may think again, and approve it while the origin still has it.',
];

/**
 * Why nobody can decide here; undefined where somebody can.
 * @param {Pending} pending
 * @param {Pick<Waiting, 'agent' | 'firstUse'>} waiting
 */
export function undecidable({ why }, { agent, firstUse }) {
  if (why === 'blocked')
    return `The rule of ${agent} blocks a change in this card: no person can let it in, only the configuration can.`;
  if (why === 'first-use' && firstUse === 'pinned')
    return `The first card of ${agent} is taken by a pin alone: add the line below to its pins file.`;
  return undefined;
}

/**
 * The line of a pins file that approves a card wherever the file is mounted.
 * @param {string} agent
 * @param {string} digest
 */
export const pinLine = (agent, digest) => `${agent.includes(':') ? JSON.stringify(agent) : agent}: ["${digest}"]`;

/**
 * A value of a card as text to compare.
 * @param {unknown} value
 */
export const comparable = (value) => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));
