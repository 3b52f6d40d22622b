import type { Settings } from '../config/schema.ts';
import { type Ask, queryAsk, systemAsk } from '../egress/resolve.ts';
import type { Event } from '../kernel/event.ts';
import type { Rules } from '../policy/rules.ts';

/** Who turns names into addresses, as `egress.dns` says. */
export const askOf = ({ dns, dnsTtl }: Settings['egress']): Ask =>
  dns.length === 0 ? systemAsk(dnsTtl) : queryAsk(dns);

/** Says which proxies resolve names in Cardea's stead: what they dial, nobody vets here. */
export function proxyNotices({ agents, origins }: Pick<Rules, 'agents' | 'origins'>): readonly Event[] {
  const reached = [...agents.values(), ...origins].map(({ egress }) => egress);
  const proxies = new Set(reached.flatMap(({ proxy }) => proxy ?? []));
  if (proxies.size === 0) return [];
  const users = [...proxies].map(
    (proxy) => `${proxy}: ${reached.flatMap((rule) => (rule.proxy === proxy ? rule.name : [])).join(', ')}`,
  );
  const msg = 'an egress proxy resolves names; the allowlist holds, addresses are its own affair';
  return [{ kind: 'notice', level: 'info', msg, about: { proxies: users } }];
}
