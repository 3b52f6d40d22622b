import type { ValidConfig } from './cli/check.ts';
import type { Io } from './cli/command.ts';
import { inspectKeys } from './cli/inspect-keys.ts';
import type { PublishedCard } from './cli/lint.ts';
import { loadConfig } from './config/load.ts';
import { alone, createGraph, type World } from './daemon.ts';
import type { EgressRule } from './kernel/egress-rule.ts';
import { urlId } from './kernel/ids.ts';
import type { WholeResponse } from './ports.ts';

/**
 * Fetches a card as its origin publishes it, through the daemon's own way out. Whoever types a URL means exactly its origin; where
 * the usual configuration has an agent there, its TLS and address rules hold.
 */
export async function fetchPublished(url: string, io: Io, world: World): Promise<PublishedCard> {
  if (!URL.canParse(url)) return { ok: false, problem: `${url} is no URL` };
  const config = await usualOrEmpty(io);
  if (!config.ok) return { ok: false, problem: `${url}: the configuration has problems; run cardea check` };
  const graph = await createGraph(config, world, await alone(config, world));
  const { limits } = config.rules;
  try {
    const result = await graph.fetcher.fetch({
      purpose: 'card',
      agent: null,
      url: urlId(url),
      method: 'GET',
      fields: ['Accept', 'application/json'],
      body: null,
      rule: ruleFor(new URL(url), config),
      limits: {
        connect: limits.connect,
        total: limits.response,
        idle: limits.response,
        bytes: limits.cardBytes,
        redirects: limits.redirects,
      },
      signal: new AbortController().signal,
    });
    if (!result.ok) return { ok: false, problem: `${url}: ${result.refusal.code}: ${result.refusal.detail}` };
    return published(url, result.response);
  } finally {
    await graph.close();
  }
}

function published(url: string, { status, fields, body }: WholeResponse): PublishedCard {
  if (status !== 200) return { ok: false, problem: `${url}: the origin answered ${status}` };
  const value = (name: string): string | undefined => {
    const at = fields.findIndex((field, index) => index % 2 === 0 && field.toLowerCase() === name);
    return at === -1 ? undefined : fields[at + 1];
  };
  const publication = {
    url,
    contentType: value('content-type'),
    cacheControl: value('cache-control'),
    etag: value('etag'),
  };
  return { ok: true, body, publication };
}

/** The configuration that the daemon would find here; none at all is fine, one with problems is not. */
async function usualOrEmpty(io: Io): ReturnType<typeof loadConfig> {
  const usual = await loadConfig({ ...io, inspectKeys, file: null, flags: [] });
  const isMissing =
    !usual.ok && usual.problems.every(({ path, at }) => path === '' && at.from === 'file' && at.line === 0);
  if (!isMissing) return usual;
  const readFile = (): Promise<Uint8Array> => Promise.resolve(new Uint8Array());
  return loadConfig({ cwd: io.cwd, env: {}, flags: [], file: 'none', readFile, inspectKeys });
}

/** Loopback is what its own address says: a developer's agent on this machine. Other private addresses need a rule. */
const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])$/;

function ruleFor(url: URL, { rules, settings }: ValidConfig): EgressRule {
  const scheme = url.protocol === 'http:' ? 'http' : 'https';
  const port = url.port === '' ? (scheme === 'https' ? 443 : 80) : Number(url.port);
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const owner = [...rules.agents.values()].find(({ egress }) =>
    egress.allowed.some((each) => each.scheme === scheme && each.host === host && each.port === port),
  );
  if (owner !== undefined) return owner.egress;
  return {
    name: 'the command line',
    allowed: [{ scheme, host, wildcard: false, port }],
    cleartext: true,
    unsafeAddresses: LOOPBACK.test(url.hostname) ? ['127.0.0.0/8', '::1/128'] : [],
    tls: null,
    proxy: settings.egress.proxy.url,
  };
}
