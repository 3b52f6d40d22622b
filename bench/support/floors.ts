import path from 'node:path';
import { type NodeName, nodeProgram } from './nodes.ts';
import { SERVERS } from './places.ts';
import { type Probed, fieldOf, probe } from './probe.ts';
import type { Scratch } from './scratch.ts';
import { type Running, start } from './server.ts';

/** Bare servers that answer what another server answered: as many fields, the same bytes. */

export interface Floor extends Running {
  readonly url: string;
}

/** What Node writes by itself. */
const NODES_OWN = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding']);

/** Starts the floor under what is at a URL: asked by the same path, it answers the same 200, and the same 304 to its ETag. */
export async function startFloor(
  program: 'floor-http1.mjs' | 'floor-h2c.mjs',
  like: { readonly url: string; readonly fields?: Readonly<Record<string, string>> },
  node: NodeName,
  scratch: Scratch,
): Promise<Floor> {
  const whole = await probe(like.url, like.fields);
  const etag = fieldOf(whole, 'etag');
  const notModified = await probe(like.url, { ...like.fields, 'If-None-Match': etag });
  if (whole.status !== 200 || notModified.status !== 304) throw new Error(`${like.url} answered ${whole.status}`);
  const answer = { fields: written(whole), notModified: written(notModified), etag, body: whole.body.toString() };
  const file = scratch.write(`${program}-${node}.json`, JSON.stringify(answer));
  const line = [nodeProgram(node), path.join(SERVERS, program), file] as const;
  const running = await start({ line: [...line], awaits: 'port ' }, scratch);
  return { ...running, url: `http://127.0.0.1:${running.said.slice('port '.length)}${new URL(like.url).pathname}` };
}

/** The fields that the floor's program has to give Node. */
export function written({ fields }: Pick<Probed, 'fields'>): readonly string[] {
  return fields.filter((_, at) => !NODES_OWN.has((fields[at - (at % 2)] ?? '').toLowerCase()));
}
