import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { EgressRule } from '../kernel/egress-rule.ts';
import { type Refusal, RefusalError, refuse } from '../kernel/refusal.ts';
import type { Ms } from '../kernel/units.ts';
import type { Clock } from '../ports.ts';
import { dialFirst } from './dial.ts';
import { connectFailure } from './failures.ts';
import { type Target, parseTarget } from '../kernel/origins.ts';
import { type BoundAddress, isOwnListener } from './own-listeners.ts';
import { forbidAddress } from './permit.ts';
import type { Resolver } from './resolve.ts';
import { secure } from './secure.ts';
import { type Sight, seeAddress, seeConnection } from './sight.ts';
import type { TlsIdentity } from './tls-files.ts';
import type { TrailKeeper } from './trail.ts';
import { openTunnel } from './tunnel.ts';

/** One connection to make. */
export interface Wanted {
  readonly target: Target;
  readonly rule: EgressRule;
  readonly identity: TlsIdentity;
  readonly timeout: Ms;
  readonly signal: AbortSignal;
  readonly trail: TrailKeeper;
}

export interface ConnectorDoors {
  readonly clock: Clock;
  readonly resolver: Resolver;
  readonly ownAddresses: () => readonly BoundAddress[];
  /** Hears what is seen on the way, where somebody wants to know. */
  readonly saw?: (sight: Sight) => void;
}

/** Makes connections to vetted addresses only; TLS included, within the time for connecting. Fails with a RefusalError. */
export type Connector = (wanted: Wanted) => Promise<Socket | TLSSocket>;

// HTTP/2 is offered second: origins that prefer it choose it, and HTTP/1.1 carries cards just as well.
const ALPN = ['h2', 'http/1.1'] as const;

export const createConnector =
  (doors: ConnectorDoors): Connector =>
  async (wanted) => {
    // The abort of a request does not end a connection attempt by itself, so the attempt has a signal of its own.
    const controller = new AbortController();
    const late = refuse(
      'origin-timeout',
      `No connection to ${wanted.target.origin} within ${wanted.timeout} ms (limits.connect).`,
      {
        proxyError: 'connection_timeout',
      },
    );
    const cancel = doors.clock.after(wanted.timeout, () => controller.abort(new RefusalError(late)));
    const signal = AbortSignal.any([wanted.signal, controller.signal]);
    try {
      return await connectTo(doors, { ...wanted, signal });
    } catch (error) {
      throw connectFailure(signal.aborted ? signal.reason : error, wanted);
    } finally {
      cancel();
    }
  };

async function connectTo(doors: ConnectorDoors, wanted: Wanted): Promise<Socket | TLSSocket> {
  const { target, rule, identity, signal } = wanted;
  const socket = rule.proxy === null ? await dialOrigin(doors, wanted) : await dialThrough(doors, wanted, rule.proxy);
  const whole =
    target.scheme === 'http' ? socket : await secure({ socket, host: target.host, identity, alpn: ALPN, signal });
  doors.saw?.(seeConnection(target.origin, whole));
  return whole;
}

async function dialOrigin(doors: ConnectorDoors, wanted: Wanted): Promise<Socket> {
  const { target, signal, trail } = wanted;
  const addresses = await addressesOf(doors.resolver, target, signal);
  doors.saw?.({
    kind: 'resolved',
    host: target.host,
    addresses: addresses.map((address) => seeAddress(address, wanted.rule.unsafeAddresses)),
  });
  vetAll(doors, wanted, addresses);
  try {
    return await dialFirst(doors.clock, { addresses, port: target.port, signal, tried: trail.address });
  } catch (error) {
    doors.resolver.forget?.(target.host);
    throw error;
  }
}

const addressesOf = async (resolver: Resolver, target: Target, signal: AbortSignal): Promise<readonly string[]> =>
  target.literal ? [target.host] : resolver.resolve(target.host, signal);

/** One bad answer refuses the name: a resolver that mixes public and private answers is being used to slip past the check. */
function vetAll(doors: ConnectorDoors, { target, rule }: Wanted, addresses: readonly string[]): void {
  const own = doors.ownAddresses();
  for (const address of addresses) {
    const refusal = forbidAddress(target, address, rule) ?? forbidOwn(address, target.port, own);
    if (refusal !== null) throw new RefusalError(refusal);
  }
  if (addresses.length === 0) throw new RefusalError(refuse('dns-failed', `${target.host} has no address.`));
}

export const forbidOwn = (address: string, port: number, own: readonly BoundAddress[]): Refusal | null =>
  isOwnListener(address, port, own)
    ? refuse(
        'address-forbidden',
        `${address} port ${port} is a listener of Cardea itself; name the agent's real origin.`,
      )
    : null;

/** The proxy is the operator's own word, so its address is not judged by range; it resolves the origin's name for us. */
async function dialThrough(doors: ConnectorDoors, wanted: Wanted, proxyUrl: string): Promise<Socket> {
  const { rule, signal, trail, target } = wanted;
  const parsed = parseTarget(proxyUrl);
  if (!parsed.ok || parsed.value.scheme !== 'http') {
    throw new RefusalError(
      refuse('origin-unreachable', `The proxy of ${rule.name} is no http:// URL without credentials.`),
    );
  }
  const proxy = parsed.value;
  const addresses = await addressesOf(doors.resolver, proxy, signal);
  const refusal = addresses
    .map((address) => forbidOwn(address, proxy.port, doors.ownAddresses()))
    .find((no) => no !== null);
  if (refusal !== undefined) throw new RefusalError(refusal);
  const socket = await dialFirst(doors.clock, { addresses, port: proxy.port, signal, tried: trail.address });
  doors.saw?.({ kind: 'proxied', host: target.host, proxy: proxy.url });
  return openTunnel(socket, target, signal);
}
