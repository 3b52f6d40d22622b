import { type Socket, connect, isIP } from 'node:net';
import { ms } from '../kernel/units.ts';
import type { Clock } from '../ports.ts';
import { unwrapIp } from './embedded.ts';
import { formatIp, parseIp } from './ip.ts';

/** "Connection Attempt Delay": how long one address is given before the next is tried beside it — RFC 8305 §5. */
const ATTEMPT_DELAY = ms(250);
const KEEP_ALIVE_MS = 30_000;

/** One dial: addresses that were all vetted, in the resolver's order. */
export interface Dial {
  readonly addresses: readonly string[];
  readonly port: number;
  readonly signal: AbortSignal;
  /** Hears each address as it is tried. */
  readonly tried: (address: string) => void;
  /** Opens one socket; the kernel's connect unless a test stands in for it. */
  readonly open?: (address: string, port: number) => Socket;
}

/** Connects to the first address that answers, families in turn, each a little later than the one before (RFC 8305). */
export function dialFirst(clock: Clock, dial: Dial): Promise<Socket> {
  const queue = alternateFamilies(dial.addresses);
  const open = new Set<Socket>();
  return new Promise((resolve, reject) => {
    let cancelDelay = (): void => {};
    const finish = (settle: () => void, winner?: Socket): void => {
      cancelDelay();
      dial.signal.removeEventListener('abort', abort);
      for (const socket of open) if (socket !== winner) socket.destroy();
      open.clear();
      settle();
    };
    const abort = (): void => finish(() => reject(dial.signal.reason));
    const next = (): void => {
      cancelDelay();
      const address = queue.shift();
      if (address === undefined) return;
      attempt(address);
      if (queue.length > 0) cancelDelay = clock.after(ATTEMPT_DELAY, next);
    };
    const attempt = (address: string): void => {
      dial.tried(address);
      const socket = (dial.open ?? dialOne)(address, dial.port);
      open.add(socket);
      socket.once('connect', () => {
        if (!open.has(socket)) return;
        // From here on it is the next owner's; an error before that one listens must not end the process.
        socket.removeAllListeners('error').on('error', () => {});
        if (isPeer(socket, address)) finish(() => resolve(socket), socket);
        else finish(() => reject(new Error(`the socket leads to another address than ${address}`)));
      });
      socket.on('error', (error) => {
        if (!open.delete(socket)) return;
        if (queue.length > 0) next();
        else if (open.size === 0) finish(() => reject(error));
      });
    };
    if (dial.signal.aborted) return abort();
    dial.signal.addEventListener('abort', abort, { once: true });
    next();
  });
}

function dialOne(address: string, port: number): Socket {
  // Only literals are dialled: a name here would be resolved a second time, by someone who has changed the answer meanwhile.
  if (isIP(address) === 0) throw new TypeError(`"${address}" is no address`);
  return connect({ host: address, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS });
}

/** Asks the kernel whom the socket is connected to, before a byte is written. */
function isPeer(socket: Socket, address: string): boolean {
  const peer = parseIp(socket.remoteAddress?.replace(/%.*$/, ''));
  const wanted = parseIp(address);
  if (peer === null || wanted === null) return false;
  // Dialling 0.0.0.0 or :: reaches loopback; that needs a rule of its own, and such a peer is what was meant.
  return wanted.value === 0n || formatIp(unwrapIp(peer)) === formatIp(unwrapIp(wanted));
}

function alternateFamilies(addresses: readonly string[]): string[] {
  const first = addresses[0] === undefined ? 0 : isIP(addresses[0]);
  const same = addresses.filter((address) => isIP(address) === first);
  const other = addresses.filter((address) => isIP(address) !== first);
  return same.flatMap((address, at) => [address, ...other.slice(at, at + 1)]).concat(other.slice(same.length));
}
