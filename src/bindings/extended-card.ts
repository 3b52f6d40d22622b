import type { Fields } from '../kernel/fields.ts';
import { type Url, urlId } from '../kernel/ids.ts';

/** Where an extended card is asked for, and how its interface is spoken. */
export interface ExtendedPlace {
  readonly url: Url;
  readonly binding: 'JSONRPC' | 'HTTP+JSON';
  /** 0.2 has the operations that 0.3 has. */
  readonly version: '0.2' | '0.3' | '1.0';
  /** As the interface declares it; `''` for none. */
  readonly tenant: string;
}

/** The request that asks for it. */
export interface ExtendedRequest {
  readonly method: 'GET' | 'POST';
  readonly url: Url;
  readonly fields: Fields;
  readonly body: Uint8Array | null;
}

/** What goes with every request, credential aside. */
interface Added {
  /** `A2A-Extensions` of the caller; `''` for none. */
  readonly extensions: string;
}

/** One answer is waited for on one exchange, so one id does for all. */
export const RPC_ID = 1;

/**
 * Writes the request for an extended card in an interface's own binding and version. `params` is always there: the Go and .NET servers
 * refuse a request without it.
 */
export function extendedRequest(place: ExtendedPlace, { extensions }: Added): ExtendedRequest {
  const modern = place.version === '1.0';
  const common = [
    'Accept',
    'application/json, application/a2a+json;q=0.9',
    'A2A-Version',
    modern ? '1.0' : '0.3',
    ...(extensions === '' ? [] : [modern ? 'A2A-Extensions' : 'X-A2A-Extensions', extensions]),
  ];
  if (place.binding === 'HTTP+JSON') return { method: 'GET', url: httpJsonUrl(place), fields: common, body: null };
  const method = modern ? 'GetExtendedAgentCard' : 'agent/getAuthenticatedExtendedCard';
  const params = place.tenant === '' ? {} : { tenant: place.tenant };
  const body = new TextEncoder().encode(JSON.stringify({ jsonrpc: '2.0', id: RPC_ID, method, params }));
  const framing = ['Content-Type', 'application/json', 'Content-Length', String(body.length)];
  return { method: 'POST', url: place.url, fields: [...common, ...framing], body };
}

/** A tenant is one segment of the path, whatever stands in it. */
function httpJsonUrl({ url, version, tenant }: ExtendedPlace): Url {
  const { origin, pathname, search } = new URL(url);
  const below = version === '1.0' ? 'extendedAgentCard' : 'v1/card';
  const segment = tenant === '' ? '' : `${encodeURIComponent(tenant)}/`;
  return urlId(`${origin}${pathname.replace(/\/+$/, '')}/${segment}${below}${search}`);
}
