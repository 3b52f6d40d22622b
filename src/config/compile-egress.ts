import type { EgressRule, OriginPattern, TlsFiles } from '../kernel/egress-rule.ts';
import type { AgentSettings, TlsSettings } from './schema.ts';

/** How an origin is reached, as an agent or a rule says it. */
export type Reach = Pick<AgentSettings, 'tls' | 'unsafeCleartext' | 'unsafeAddresses'>;

/** The permission to reach some origins as an agent or a rule says it. */
export function egressRule(
  name: string,
  { tls, unsafeCleartext, unsafeAddresses }: Reach,
  allowed: readonly OriginPattern[],
): EgressRule {
  return {
    name,
    allowed,
    cleartext: unsafeCleartext,
    unsafeAddresses,
    tls: tls === null ? null : tlsFiles(tls),
    proxy: null,
  };
}

function tlsFiles({ ca, cert, key, crl }: TlsSettings): TlsFiles {
  return {
    ...(ca === null ? {} : { ca }),
    ...(cert === null ? {} : { cert }),
    ...(key === null ? {} : { key }),
    ...(crl === null ? {} : { crl }),
  };
}
