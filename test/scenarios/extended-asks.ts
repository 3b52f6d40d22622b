import type { Ask } from '../../src/kernel/ask.ts';
import { listenerName } from '../../src/kernel/ids.ts';
import type { Peer } from '../../src/kernel/peer.ts';
import type { Person } from './extended-people.ts';
import type { Step } from './extended-steps.ts';

/** How a step of a history is asked for. */

export const fieldsOf = (who: Person, shown: Person): Record<string, string> => ({
  ...(shown.header === '' ? {} : { authorization: shown.header }),
  ...(who === shown || who.header === '' ? {} : { 'proxy-authorization': who.header }),
});

/** At the well-known path nobody names a tenant. */
export const namesTenant = ({ operation }: Extract<Step, { does: 'ask' }>): boolean => operation !== 'well-known';

/** Whom the one who asks is known by: a credential for the proxy, else one for the agent, else the connection. */
export const knownBy = (shown: Person, proxy: Person | null): Person =>
  proxy !== null && (proxy.header !== '' || shown.header === '') ? proxy : shown;

/** What a request shows of its caller. */
export interface Shows {
  readonly credentials: Record<string, string>;
  readonly peer: Peer;
}

export function requestOf(
  step: Extract<Step, { does: 'ask' }>,
  { credentials, peer }: Shows,
  tags: readonly string[],
): Ask {
  const { agent: name, operation, tenant } = step;
  const version = operation.endsWith('0.3') ? '0.3' : '1.0';
  const fields = {
    ...credentials,
    'a2a-version': version,
    ...(step.extensions === '' ? {} : { 'a2a-extensions': step.extensions }),
    ...(step.noCache ? { 'cache-control': 'no-cache' } : {}),
    ...(step.guesses && tags.length > 0 ? { 'if-none-match': tags.join(', ') } : {}),
  };
  const below = tenant === '' ? '' : `/${tenant}`;
  switch (operation) {
    case 'rest':
      return { ...askOf('GET', `/agents/${name}${below}/extendedAgentCard`, fields), peer };
    case 'rest-0.3':
      return { ...askOf('GET', `/agents/${name}${below}/v1/card`, fields), peer };
    case 'well-known':
      return { ...askOf('GET', `/agents/${name}/.well-known/agent-card.json`, fields), peer };
    case 'rpc':
    case 'rpc-0.3': {
      const method = operation === 'rpc' ? 'GetExtendedAgentCard' : 'agent/getAuthenticatedExtendedCard';
      const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method, params: tenant === '' ? {} : { tenant } });
      return { ...askOf('POST', `/agents/${name}`, { ...fields, 'content-type': 'application/json' }, body), peer };
    }
  }
}

export const askOf = (method: string, target: string, fields: Record<string, string>, body?: string): Ask => ({
  listener: listenerName('agents'),
  base: 'http://127.0.0.1:8642',
  ownsBase: () => true,
  method,
  target,
  proxied: null,
  host: '127.0.0.1',
  field: (name) => fields[name],
  peer: { principal: null, certificate: null },
  fields: Object.entries(fields).flat(),
  body: body === undefined ? null : streamOf(body),
  signal: () => new AbortController().signal,
});

async function* streamOf(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}
