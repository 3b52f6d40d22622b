import type { Settings } from '../config/schema.ts';
import { type ClosableFetcher, createFetcher } from '../egress/fetcher.ts';
import type { BoundAddress } from '../egress/own-listeners.ts';
import { type Ask, createResolver, queryAsk, systemAsk } from '../egress/resolve.ts';
import type { Sight } from '../egress/sight.ts';
import type { Event } from '../kernel/event.ts';
import type { Rules } from '../policy/rules.ts';
import type { Clock } from '../ports.ts';

interface Leaving {
  readonly clock: Clock;
  /** Hears what is seen on the way, where somebody wants to know. */
  readonly saw?: (sight: Sight) => void;
}

/** Makes the one door to the network, by the settings that are in force whenever somebody goes through it. */
export function createWayOut(
  settings: () => Settings,
  { clock, saw }: Leaving,
  ownAddresses: () => readonly BoundAddress[],
): ClosableFetcher {
  const ask = askToday(() => settings().egress);
  const limits = {
    get concurrency() {
      return settings().limits.concurrency;
    },
    get forwardConcurrency() {
      return settings().limits.forwardConcurrency;
    },
  };
  const resolver = createResolver(ask, clock);
  return createFetcher({ clock, resolver, limits, ownAddresses, ...(saw === undefined ? {} : { saw }) });
}

/** Who turns names into addresses, as `egress.dns` of the configuration in force says. */
function askToday(egress: () => Settings['egress']): Ask {
  let made: { readonly of: Settings['egress']; readonly ask: Ask } | undefined;
  return (name) => {
    const today = egress();
    if (made?.of !== today) made = { of: today, ask: askOf(today) };
    return made.ask(name);
  };
}

const askOf = ({ dns, dnsTtl }: Settings['egress']): Ask => (dns.length === 0 ? systemAsk(dnsTtl) : queryAsk(dns));

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
