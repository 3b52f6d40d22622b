import { type Tag, tag } from '../kernel/ids.ts';
import type { Caller } from './callers.ts';

/** What ends everything of a caller: its names, and the key of its issuer that vouched for it. */
export const callerTags = ({ tags, principal: { signedBy } }: Caller): readonly Tag[] =>
  signedBy === null ? tags : [...tags, issuerKeyTag(signedBy)];

/** Known to no command: the end of a key is the issuer's to say. */
export const issuerKeyTag = (thumbprint: string): Tag => tag(`issuer-key:${thumbprint}`);
