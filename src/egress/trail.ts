import type { Url } from '../kernel/ids.ts';
import type { Trail } from '../kernel/receipt.ts';

/** Collects what one exchange does on the network, while it does it. */
export interface TrailKeeper {
  redirect(to: Url): void;
  address(address: string): void;
  reused(): void;
  /** From now on bytes of the request may be on their way. */
  sending(): void;
  sent(): boolean;
  /** The trail so far; also where nothing came of it. */
  read(): Trail;
}

export function keepTrail(requestedUrl: Url): TrailKeeper {
  const redirects: Url[] = [];
  const addresses: string[] = [];
  let reused = false;
  let sent = false;
  return {
    redirect: (to) => void redirects.push(to),
    address: (address) => void addresses.push(address),
    reused: () => {
      reused = true;
    },
    sending: () => {
      sent = true;
    },
    sent: () => sent,
    read: () => ({
      requestedUrl,
      finalUrl: redirects.at(-1) ?? requestedUrl,
      redirects: [...redirects],
      addresses: [...addresses],
      // A chain that dialled anywhere has resolved something.
      reused: reused && addresses.length === 0,
    }),
  };
}
