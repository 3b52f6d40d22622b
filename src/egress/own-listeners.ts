import { networkInterfaces } from 'node:os';
import { unwrapIp } from './embedded.ts';
import { type Ip, formatIp, inBlock, parseCidr, parseIp } from './ip.ts';

/** Where a listener of this process is bound. */
export interface BoundAddress {
  readonly address: string;
  readonly port: number;
}

const LOOPBACK = ['127.0.0.0/8', '::1/128'].map(parseCidr);

/** Says whether an address and port lead to a listener of this very process: nobody may steer Cardea at its own admin side. */
export const isOwnListener = (address: string, port: number, own: readonly BoundAddress[]): boolean =>
  own.some((bound) => bound.port === port && reaches(address, bound.address));

function reaches(address: string, bound: string): boolean {
  const target = canonical(address);
  const listener = canonical(bound);
  if (target === null || listener === null) return false;
  if (formatIp(target) === formatIp(listener)) return true;
  // A listener on 0.0.0.0 or :: answers on every address of this machine; dialling 0.0.0.0 reaches the loopback interface.
  if (isUnspecified(listener)) return isLoopback(target) || isUnspecified(target) || isOfThisMachine(target);
  return isUnspecified(target) && isLoopback(listener);
}

function canonical(text: string): Ip | null {
  const ip = parseIp(text.replace(/%.*$/, ''));
  return ip === null ? null : unwrapIp(ip);
}

const isUnspecified = (ip: Ip): boolean => ip.value === 0n;
const isLoopback = (ip: Ip): boolean => LOOPBACK.some((block) => block !== null && inBlock(ip, block));

function isOfThisMachine(ip: Ip): boolean {
  const spelled = formatIp(ip);
  return Object.values(networkInterfaces()).some((addresses) =>
    (addresses ?? []).some(({ address }) => {
      const own = canonical(address);
      return own !== null && formatIp(own) === spelled;
    }),
  );
}
