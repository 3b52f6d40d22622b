import { REGISTRY_ACTIONS, REGISTRY_KINDS } from '../kernel/registry.ts';
import { group, list, optional, required, section, setting } from './table.ts';
import { filePath } from './types/files.ts';
import { setName } from './types/keys.ts';
import { duration } from './types/quantities.ts';
import { cardUrl } from './types/web.ts';
import { oneOf } from './types/words.ts';

const action = oneOf(...REGISTRY_ACTIONS);

const status = section({
  approved: setting(action, 'allow', 'It may be used: the registry lists it, or says so.'),
  deprecated: setting(action, 'report', 'It may still be used, and not for long.'),
  pending: setting(action, 'hold', 'It is announced and not yet released.'),
  unknown: setting(
    action,
    'hold',
    'It is not listed, what is said of it is no known word, or the registry cannot be had and what it said is older than `maxStale`.',
  ),
  retired: setting(action, 'block', 'Its time is over.'),
  revoked: setting(action, 'block', 'It must not be used.'),
});

const registry = section({
  name: required(setName, 'How agents name it.'),
  kind: required(oneOf(...REGISTRY_KINDS), 'How it is read. `ai-catalog`: AI Catalog 0.9 and 1.x, nested to depth 4.'),
  url: optional(
    cardUrl,
    'Where it is; exactly this URL is allowed, reached as the rule in `origins` says that covers it.',
  ),
  file: optional(
    filePath,
    'A file in its place; a change of it counts at once. It may be missing: then the registry cannot be had.',
  ),
  refresh: setting(
    duration('1s', '24h'),
    '60s',
    'How often it is read, at the least: a revocation counts within this time.',
  ),
  maxStale: setting(
    duration('0s', '30d'),
    '1h',
    'How long what it said last holds while it cannot be had. A revocation holds for longer: until the registry takes it back.',
  ),
  status: group(
    status,
    'What becomes of each status: `allow`; `report`, the same with evidence; `hold`, the card in force is served and nothing new is taken in; `block`, no card is served and none is kept.',
  ),
});

/** The registries that agents name. */
export const registries = list(registry);
