/** So many agents as `GET /agents` tells of them, each fresh for another while. */
export const manyAgents = (count: number, now: number): readonly object[] =>
  Array.from({ length: count }, (_, at) => ({
    agent: `agent-${at}`,
    state: 'fresh',
    lastSuccess: now - 1_000 * (at + 1),
    freshUntil: now + 60_000 * (at + 5),
    staleSince: 0,
    signature: 'unsigned',
    version: '1.0.0',
    protocolVersion: '1.0',
    digest: `sha256:${String(at).padStart(64, '0')}`,
    pending: {},
    urls: [`https://agent-${at}.example/.well-known/agent-card.json`],
    tags: [`agent:agent-${at}`, `origin:agent-${at}.example`],
    name: `Agent ${at}`,
    verdict: { signature: 'unsigned' },
    reviewed: 'allowed',
    lifetime: 60_000 * (at + 5),
    staleUntil: now + 120_000 * (at + 5),
    setback: null,
  }));
