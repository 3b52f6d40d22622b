import path from 'node:path';
import { SignJWT, exportJWK, generateKeyPair } from 'jose';
import { type Cardea, cardUrl, REACH, rested, startCardea } from './cardea.ts';
import { cardOf } from './card.ts';
import { type Floor, startFloor } from './floors.ts';
import type { Load } from './load.ts';
import { type NodeName, nodeProgram } from './nodes.ts';
import { type Origin, answers, startOrigin } from './origin.ts';
import { type PeerName, startPeer } from './peers.ts';
import { SERVERS } from './places.ts';
import { fieldOf, probe } from './probe.ts';
import type { Contestant } from './rounds.ts';
import type { Scratch } from './scratch.ts';
import { start } from './server.ts';

/** Who takes part in the questions about hits, and what each is loaded with. */

/** How a hit is asked for. */
export type Manner = Pick<Load, 'protocol' | 'connections'> & {
  readonly conditional: boolean;
  /** What a request says beside. Node reads one with a field that nobody knows each time. */
  readonly fields?: Readonly<Record<string, string>>;
  /** True where a daemon that has answered another protocol before is asked; the floors have never answered another than their own. */
  readonly afterOther?: true;
};

/** A server, once it has the card: who it is in a case. Null where it does not take part in it. */
export type Entrant = (manner: Manner) => Contestant | null;

/** The card that everybody serves, unsigned: what a signature costs is paid before a hit. */
const CARD = JSON.stringify(cardOf('Bench', 'http://127.0.0.1/rpc', 3_072));

export const startCardOrigin = (scratch: Scratch): Promise<Origin> => startOrigin(answers(CARD), scratch);

/**
 * Cardea with one agent, one daemon for each protocol as there is one floor, and the floors under its answers. Everything is as it comes, but
 * that nothing is kept on disk.
 */
export async function enterCardea(node: NodeName, origin: Origin, scratch: Scratch): Promise<readonly Entrant[]> {
  const config = `state: memory\nagents: { bench: { origin: "${origin.url}", ${REACH} } }`;
  const cardea = await startCardea(config, node, scratch);
  const byHttp2 = await startCardea(config, node, scratch);
  const url = cardUrl(cardea, 'bench');
  // It has its card before it is asked by HTTP/2.
  await probe(cardUrl(byHttp2, 'bench'));
  const http1 = await startFloor('floor-http1.mjs', { url }, node, scratch);
  const h2c = await startFloor('floor-h2c.mjs', { url }, node, scratch);
  const conditions = { 'If-None-Match': fieldOf(await probe(url), 'etag') };
  await rested();
  const loadOf = ({ conditional, fields, protocol, connections }: Manner) => ({
    protocol,
    connections,
    fields: { ...(conditional ? conditions : {}), ...fields },
  });
  return [
    (manner) => {
      const floor = manner.protocol === 'h2c' ? h2c : http1;
      return { name: `floor, Node ${node}`, pid: floor.pid, load: { ...loadOf(manner), url: floor.url } };
    },
    (manner) => {
      const daemon = manner.protocol === 'h2c' && manner.afterOther !== true ? byHttp2 : cardea;
      return {
        name: `Cardea, Node ${node}`,
        pid: daemon.pid,
        load: { ...loadOf(manner), url: cardUrl(daemon, 'bench') },
      };
    },
  ];
}

/** undici's caching interceptor behind node:http. A request that is conditional already it passes to the origin: it takes no part in that. */
export async function enterUndici(node: NodeName, origin: Origin, scratch: Scratch): Promise<Entrant> {
  const line = [nodeProgram(node), path.join(SERVERS, 'undici-cache.ts'), origin.url] as const;
  const running = await start({ line: [...line], awaits: 'port ' }, scratch);
  const port = Number(running.said.slice('port '.length));
  const enter = await entrant({ name: `undici's cache, Node ${node}`, pid: running.pid, port }, 'http/1.1');
  return (manner) => (manner.conditional ? null : enter(manner));
}

/** A peer, where it is installed. */
export async function enterPeer(name: PeerName, origin: Origin, scratch: Scratch): Promise<readonly Entrant[]> {
  const peer = await startPeer(name, Number(new URL(origin.url).port), scratch);
  if (peer === undefined) return [];
  const named = { ...peer, name: `${name} ${peer.version}` };
  return [await entrant(named, name === 'nginx h2c' ? 'h2c' : 'http/1.1')];
}

async function entrant(
  { name, pid, port }: { readonly name: string; readonly pid: number; readonly port: number },
  protocol: Load['protocol'],
): Promise<Entrant> {
  const url = `http://127.0.0.1:${port}/.well-known/agent-card.json`;
  // Whoever speaks HTTP/2 alone is not asked here: the origin's validator is everybody's.
  const etag = protocol === 'h2c' ? '' : fieldOf(await probe(url), 'etag');
  return ({ conditional, ...manner }) => {
    if (manner.protocol !== protocol || (conditional && etag === '')) return null;
    return { name, pid, load: { ...manner, url, fields: conditional ? { 'If-None-Match': etag } : {} } };
  };
}

/** Extended cards: one caller's own, by a token of its issuer that Cardea has verified before, and the floor under that answer. */
export async function enterExtended(node: NodeName, scratch: Scratch): Promise<readonly Contestant[]> {
  const issuer = await startIssuer(scratch);
  const agent = await startExtendedAgent(scratch);
  const cardea = await startExtendedCardea(node, { issuer: issuer.url, agent: agent.url }, scratch);
  const url = `${cardea.agents}/agents/ledger/extendedAgentCard`;
  const fields = { Authorization: `Bearer ${issuer.token}`, 'A2A-Version': '1.0' };
  const floor: Floor = await startFloor('floor-http1.mjs', { url, fields }, node, scratch);
  await rested();
  const load = { protocol: 'http/1.1', connections: 16, fields } as const;
  return [
    { name: `floor, Node ${node}`, pid: floor.pid, load: { ...load, url: floor.url } },
    { name: `Cardea, Node ${node}`, pid: cardea.pid, load: { ...load, url } },
  ];
}

function startExtendedCardea(
  node: NodeName,
  { issuer, agent }: { readonly issuer: string; readonly agent: string },
  scratch: Scratch,
): Promise<Cardea> {
  return startCardea(
    `state: memory
agents: { ledger: { origin: "${agent}", extended: { audience: ledger }, ${REACH} } }
origins: [{ match: "${issuer}", content: none, ${REACH} }]
principals: { issuers: [{ issuer: "${ISSUER}", audience: [cardea], jwks: "${issuer}/jwks.json" }] }`,
    node,
    scratch,
  );
}

const ISSUER = 'https://idp.example.com';

async function startIssuer(scratch: Scratch): Promise<Origin & { readonly token: string }> {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  const jwks = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'k', alg: 'ES256' }] });
  const token = await new SignJWT({ tenant: 'acme', scope: 'cards:read' })
    .setProtectedHeader({ alg: 'ES256', kid: 'k', typ: 'at+jwt' })
    .setIssuer(ISSUER)
    .setSubject('alice')
    .setAudience(['cardea', 'ledger'])
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(privateKey);
  const origin = await startOrigin(answers(jwks), scratch);
  return { ...origin, token };
}

/** One card for everybody, over HTTP+JSON; the public one says that there is another. */
function startExtendedAgent(scratch: Scratch): Promise<Origin> {
  return startOrigin((request, response) => {
    const url = `http://${request.headers.host}`;
    const isPublic = request.url === '/.well-known/agent-card.json';
    const card = {
      ...cardOf('Ledger', url, isPublic ? 1_024 : 3_072),
      supportedInterfaces: [{ url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' }],
      capabilities: { extendedAgentCard: true },
      securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
      securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    };
    answers(JSON.stringify(card))(request, response);
  }, scratch);
}
