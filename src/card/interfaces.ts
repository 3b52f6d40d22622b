import type { JsonObject } from './json.ts';
import { isArray, isObject, present } from './json.ts';
import { readText } from './schema/member-value.ts';
import { snakeName } from './schema/table.ts';
import { majorMinor } from './version.ts';

/** One way to call the agent, wherever the card says it. */
export interface Interface {
  /** JSON Pointer of the URL. */
  readonly pointer: string;
  readonly url: string;
  /** `JSONRPC`, `GRPC`, `HTTP+JSON` or another word. */
  readonly binding: string;
  /** Major.Minor, or the words that stand there. */
  readonly version: string;
  readonly tenant?: string;
}

/** Lists the interfaces of `supportedInterfaces`. */
export function supportedInterfaces(card: JsonObject): readonly Interface[] {
  return items(card, 'supportedInterfaces').flatMap(({ pointer, item }) => {
    const url = readText(item, 'url');
    if (url === undefined) return [];
    const stated = readText(item, 'protocolVersion') ?? '';
    const tenant = readText(item, 'tenant');
    return {
      pointer: `${pointer}/url`,
      url,
      binding: readText(item, 'protocolBinding') ?? '',
      version: stated === '' ? '1.0' : (majorMinor(stated) ?? stated),
      ...(tenant === undefined || tenant === '' ? {} : { tenant }),
    };
  });
}

/** Lists what the 0.x members say: `url` first, then `additionalInterfaces`. */
export function legacyInterfaces(card: JsonObject): readonly Interface[] {
  const stated = readText(card, 'protocolVersion');
  const version = stated === undefined ? '0.3' : (majorMinor(stated) ?? stated);
  const url = readText(card, 'url');
  const main =
    url === undefined
      ? []
      : [{ pointer: '/url', url, binding: readText(card, 'preferredTransport') ?? 'JSONRPC', version }];
  const more = items(card, 'additionalInterfaces').flatMap(({ pointer, item }) => {
    const one = readText(item, 'url');
    return one === undefined
      ? []
      : [{ pointer: `${pointer}/url`, url: one, binding: readText(item, 'transport') ?? '', version }];
  });
  return [...main, ...more];
}

/** What a card lists under the names of either version. */
export interface Listing {
  readonly supported: readonly Interface[];
  readonly legacy: readonly Interface[];
}

export const listingOf = (card: JsonObject): Listing => ({
  supported: supportedInterfaces(card),
  legacy: legacyInterfaces(card),
});

/** Lists every interface that the card names anywhere: each is somewhere a caller may send its credentials. */
export const allInterfaces = (card: JsonObject): readonly Interface[] => everyOf(listingOf(card));

export const everyOf = ({ supported, legacy }: Listing): readonly Interface[] => [...supported, ...legacy];

/** gRPC's own target form, which the SDKs put into cards: `agent.example.com:443`, without a scheme. */
const GRPC_TARGET = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):\d{1,5}$/;

/** A URL that every parser reads alike: WHATWG would drop the first kind, turn the second into `/`, keep the third in a host. */
const TWO_READINGS = /[\u0000-\u0020\u007f]|\\|^[^/]*\/\/[^/?#]*[{}]/;

/** Reads an interface's URL; undefined where it is not absolute, names a user, or may be read in two ways. */
export function interfaceUrl(one: Pick<Interface, 'url' | 'binding'>): URL | undefined {
  const written = one.binding === 'GRPC' && GRPC_TARGET.test(one.url) ? `https://${one.url}` : one.url;
  if (TWO_READINGS.test(written) || !/^[a-z][a-z0-9+.-]*:\/\/[^/?#]/i.test(written)) return undefined;
  const url = URL.parse(written);
  return url?.username === '' && url.password === '' && url.hostname !== '' ? url : undefined;
}

function items(card: JsonObject, name: string): readonly { readonly pointer: string; readonly item: JsonObject }[] {
  const written = present(card, name) === undefined ? snakeName(name) : name;
  const value = present(card, written);
  if (!isArray(value)) return [];
  return value.flatMap((item, index) => (isObject(item) ? [{ pointer: `/${written}/${index}`, item }] : []));
}
