import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** A real Prometheus that scrapes one target every second. */
export interface Prometheus {
  /** How many series a query has now; an Error where it is no query. */
  count(query: string): Promise<number>;
  stop(): Promise<void>;
}

export async function startPrometheus(target: string): Promise<Prometheus> {
  const folder = await mkdtemp(path.join(tmpdir(), 'cardea-prometheus-'));
  const config = path.join(folder, 'prometheus.yaml');
  const scrape = `{ job_name: cardea, scrape_interval: 1s, static_configs: [{ targets: ["${target}"] }] }`;
  await writeFile(config, `scrape_configs:\n  - ${scrape}\n`);
  const address = `127.0.0.1:${await freePort()}`;
  const flags = [`--config.file=${config}`, `--storage.tsdb.path=${folder}/data`, `--web.listen-address=${address}`];
  const child = spawn('prometheus', [...flags, '--log.level=error'], { stdio: ['ignore', 'ignore', 'inherit'] });
  const exited = once(child, 'exit');
  while (child.exitCode === null && !(await isReady(address))) await pause(100);
  return {
    async count(query) {
      const response = await fetch(`http://${address}/api/v1/query?query=${encodeURIComponent(query)}`);
      const answer = (await response.json()) as Answer;
      if (answer.status !== 'success') throw new Error(`${query}: ${answer.error}`);
      return answer.data.result.length;
    },
    async stop() {
      child.kill('SIGTERM');
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

type Answer =
  | { readonly status: 'success'; readonly data: { readonly result: readonly unknown[] } }
  | { readonly status: 'error'; readonly error: string };

const isReady = (address: string): Promise<boolean> =>
  fetch(`http://${address}/-/ready`).then(
    ({ ok }) => ok,
    () => false,
  );

/** Prometheus cannot choose one by itself. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
