import type { ChangeClass } from '../kernel/change.ts';
import { FIRST_USES, REVIEW_ACTIONS } from '../kernel/review.ts';
import { optional, section, setting } from './table.ts';
import { pinsFile } from './types/files.ts';
import { duration } from './types/quantities.ts';
import { oneOf } from './types/words.ts';

const action = oneOf(...REVIEW_ACTIONS);

/** How a changed card of an agent is decided. */
export const review = section({
  firstUse: optional(
    oneOf(...FIRST_USES),
    'The first card that is ever seen: taken, held for review, or taken only where `pins` names it. Else `allow`; under a wildcard `hold`.',
  ),
  maxHold: setting(duration('1s'), '7d', 'How long the approved card is served while a newer one waits.'),
  pins: optional(
    pinsFile,
    'A file of digests that are approved, `AGENT: [sha256:…]`, for a card without a name its URL; "cardea approve --print" writes its lines.',
  ),
  identity: optional(action, 'Name, description, provider. Else `hold`.'),
  endpoint: optional(action, 'Where the agent is reached, and where its card is. Else `hold`.'),
  protocol: optional(action, 'Bindings and versions. Else `hold`.'),
  security: optional(action, 'What a caller must show. Else `hold`.'),
  signature: optional(action, 'A signature that was there and is not, or is by another key set. Else `hold`.'),
  extension: optional(action, 'Else `hold` where it is required or its text has a new cue, `report` otherwise.'),
  capability: optional(action, 'Streaming, push notifications, extended card. Else `hold`.'),
  skillAdded: optional(action, 'Else `hold`.'),
  skillRemoved: optional(action, 'Else `allow`.'),
  skillText: optional(
    action,
    'Name, description, examples and tags of a skill. Else `hold` where the text has a new cue, `report` otherwise.',
  ),
  skillIo: optional(action, 'What a skill takes and gives. Else `hold`.'),
  modes: optional(action, 'Default media types. Else `report`.'),
  cosmetic: optional(action, 'Version, documentation, icon. Else `allow`.'),
});

/** The key that each class has in the table. */
export const CLASS_KEYS = {
  identity: 'identity',
  endpoint: 'endpoint',
  protocol: 'protocol',
  security: 'security',
  signature: 'signature',
  extension: 'extension',
  capability: 'capability',
  'skill-added': 'skillAdded',
  'skill-removed': 'skillRemoved',
  'skill-text': 'skillText',
  'skill-io': 'skillIo',
  modes: 'modes',
  cosmetic: 'cosmetic',
} as const satisfies Readonly<Record<ChangeClass, keyof (typeof review)['rows']>>;
