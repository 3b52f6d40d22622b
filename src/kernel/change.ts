/** What a change of a member is a change of. */
export const CHANGE_CLASSES = [
  'identity', // who the agent is: name, provider
  'endpoint', // where it is reached
  'protocol', // which bindings and versions it speaks
  'security', // what a caller must show
  'signature', // who signed the card
  'extension', // which extensions it declares
  'capability', // what the agent can do beyond plain messages
  'skill-added',
  'skill-removed',
  'skill-text', // what a model reads: name, description, tags, examples
  'skill-io', // what a skill takes and gives
  'modes', // media types for all skills
  'cosmetic', // nothing that a program acts on
] as const;
export type ChangeClass = (typeof CHANGE_CLASSES)[number];

/** A change as it is kept beside a card that waits, and as it is shown: all that a diff says of it, and what the rule says. */
export interface KeptChange {
  readonly class: ChangeClass;
  readonly action: 'allow' | 'report' | 'hold' | 'block';
  readonly [member: string]: unknown;
}

/** What a text may lead a model to do. Found by a word list (docs/review.md), never by a model. */
export const CUES = [
  'sends', // something leaves: mail, messages, uploads, posts
  'deletes', // something is lost
  'pays', // money moves
  'credentials', // passwords, keys, tokens
  'links', // an address to follow
  'instructs', // the reader is told what to do, rather than what the skill does
  'hidden', // characters that a person does not see
  'script', // letters outside Latin, which the list cannot read
] as const;
export type Cue = (typeof CUES)[number];
