import type { AgentView } from '../../src/admin/ports.ts';
import { agentName, cardDigest, tag, urlId } from '../../src/kernel/ids.ts';
import { epochMs } from '../../src/kernel/units.ts';

interface Told {
  readonly state: AgentView['state'];
  readonly freshUntil: number;
  readonly lastSuccess: number;
  readonly pending?: AgentView['pending'];
  readonly error?: string;
}

/** An agent as the admin API tells of it. */
export const agent = (name: string, { state, freshUntil, lastSuccess, pending = {}, error }: Told): AgentView => ({
  agent: agentName(name),
  state,
  lastSuccess: epochMs(lastSuccess),
  freshUntil: epochMs(freshUntil),
  staleSince: epochMs(0),
  signature: state === 'missing' ? null : 'unsigned',
  name: null,
  verdict: state === 'missing' ? null : { signature: 'unsigned' },
  reviewed: state === 'missing' ? null : 'allowed',
  lifetime: 60_000,
  staleUntil: epochMs(0),
  version: null,
  protocolVersion: null,
  digest: state === 'missing' ? null : cardDigest('00'),
  pending,
  urls: [urlId(`https://${name}.example/card.json`)],
  tags: [tag(`agent:${name}`), tag(`origin:${name}.example`)],
  registry: null,
  setback:
    error === undefined
      ? null
      : {
          code: error,
          detail: 'No such name.',
          remedy: 'Mend the name.',
          at: epochMs(10),
          failures: 1,
          retryAt: epochMs(20),
        },
});
