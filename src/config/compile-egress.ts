import type { EgressRule, OriginPattern, TlsFiles } from '../kernel/egress-rule.ts';
import type { AgentSettings, Settings, TlsSettings } from './schema.ts';

/** How an origin is reached, as an agent or a rule says it. */
export type Reach = Pick<AgentSettings, 'tls' | 'proxy' | 'unsafeCleartext' | 'unsafeAddresses'>;

/** Who says how origins are reached, and what holds where it says nothing. */
export interface Reaching {
  /** Where it stands in the configuration. */
  readonly name: string;
  readonly reach: Reach;
  readonly egress: Settings['egress'];
}

/** The permission to reach some origins as an agent or a rule says it. */
export function egressRule({ name, reach, egress }: Reaching, allowed: readonly OriginPattern[]): EgressRule {
  const { tls, proxy, unsafeCleartext, unsafeAddresses } = reach;
  return {
    name,
    allowed,
    cleartext: unsafeCleartext,
    unsafeAddresses,
    tls: tls === null ? null : tlsFiles(tls),
    proxy: (proxy ?? egress.proxy).url,
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
