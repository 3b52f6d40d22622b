import { optional, section } from './table.ts';
import { audience } from './types/web.ts';
import { oneOf } from './types/words.ts';

/** `extended` of an agent: what is sent to it in a caller's name. */
export const extended = section({
  audience: optional(
    audience,
    "Whom a caller's token must be for before it is sent to the agent: this stands in its `aud`. Where nothing is written, the card's origin.",
  ),
  opaque: optional(
    oneOf('allow', 'refuse'),
    'What becomes of a credential that is no JWT, so that nobody can tell whom it is for. Where nothing is written: `refuse` where `audience` is written, else `allow`.',
  ),
});
