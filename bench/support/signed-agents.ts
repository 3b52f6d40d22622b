import path from 'node:path';
import { REACH } from './cardea.ts';
import { SERVERS } from './places.ts';
import type { Scratch } from './scratch.ts';
import { type Running, start } from './server.ts';
import { LOAD_CPU } from './machine.ts';
import { nodeProgram } from './nodes.ts';
import { createSigner } from './signed.ts';

/** Many agents with signed cards behind one origin that is a process of its own. */

export interface SignedAgents {
  readonly origin: Running & { readonly url: string };
  readonly names: readonly string[];
  /** Lines of configuration: the key set and the agents, whose signatures are required. */
  readonly config: string;
}

/** What the origin says of its cards. */
export interface Manner {
  readonly cacheControl: string;
  /** Whether it gives validators; without them every refresh is a whole card. */
  readonly validators: boolean;
  readonly bytes: number;
}

/** Signs that many cards, puts them behind an origin and writes the agents' configuration. */
export async function startSignedAgents(count: number, manner: Manner, scratch: Scratch): Promise<SignedAgents> {
  const signer = await createSigner();
  const names = Array.from({ length: count }, (_, at) => `a-${at}`);
  const pages = [];
  for (const name of names) {
    const body = await signer.card(name, 'http://127.0.0.1/rpc', manner.bytes);
    const validator = manner.validators ? { etag: `"${name}"` } : {};
    pages.push({ path: `/${name}`, body, cacheControl: manner.cacheControl, ...validator });
  }
  const file = scratch.write('pages.json', JSON.stringify(pages));
  const line = [nodeProgram('24'), path.join(SERVERS, 'origin.mjs'), file] as const;
  const running = await start({ line: [...line], awaits: 'port ', cpu: LOAD_CPU }, scratch);
  const url = `http://127.0.0.1:${running.said.slice('port '.length)}`;
  const agents = names.map(
    (name) => `  ${name}: { card: "${url}/${name}", signature: require, keys: [bench], ${REACH} }`,
  );
  const config = `keys: { bench: { file: ${scratch.write('jwks.json', signer.jwks)} } }\nagents:\n${agents.join('\n')}`;
  return { origin: { ...running, url }, names, config };
}
