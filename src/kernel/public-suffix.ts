import { createRequire } from 'node:module';
import type * as tldts from 'tldts';

/** What the Public Suffix List with its private section says of a host: below `co.uk` and `github.io` every name is somebody else's. */
export interface Suffixed {
  readonly suffix: string | null;
  /** The registrable domain; null of an address, and of a name under no listed suffix. */
  readonly site: string | null;
}

/**
 * Looks a host up. The list is loaded by the first who asks and takes 3 MB from then on: it is asked of wildcards in a configuration and of
 * cards that point to another host than their own, which most daemons never see.
 */
export function suffixed(host: string): Suffixed {
  const { parse } = createRequire(import.meta.url)('tldts') as typeof tldts;
  const { domain, publicSuffix, isIp, isIcann, isPrivate } = parse(host, { allowPrivateDomains: true });
  const isListed = isIp !== true && (isIcann === true || isPrivate === true);
  return { suffix: publicSuffix, site: isListed ? domain : null };
}
