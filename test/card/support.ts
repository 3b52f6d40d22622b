import type { AdmitContext, AdmittedCard } from '../../src/card/admit.ts';
import { admitCard } from '../../src/card/admit.ts';
import type { Json, JsonObject } from '../../src/card/json.ts';
import { isObject } from '../../src/card/json.ts';
import type { KeySet } from '../../src/card/keys.ts';
import type { KeySetOrigin } from '../../src/card/keyset.ts';
import { parseKeySet } from '../../src/card/keyset.ts';
import { scanJson } from '../../src/card/scan.ts';
import type { CardRule } from '../../src/kernel/card-rule.ts';
import { agentName, urlId } from '../../src/kernel/ids.ts';
import type { Outcome } from '../../src/kernel/refusal.ts';
import { bytes, epochMs } from '../../src/kernel/units.ts';

export const NOW = epochMs(Date.UTC(2026, 10, 30));

/** The defaults, hosts and cleartext apart: what a test is about it names itself. */
export const RULE: CardRule = {
  agent: agentName('weather'),
  maxBytes: bytes(1_048_576),
  maxDepth: 32,
  schema: 'compatible',
  versions: ['0.2', '0.3', '1.0'],
  signature: 'if-present',
  signatures: 1,
  uncovered: 'drop',
  keys: [],
  jku: [],
  interfaces: 'any',
  route: 'direct',
  cleartext: true,
  extensions: [],
};

export interface Given {
  readonly rule?: Partial<CardRule>;
  readonly keys?: readonly KeySet[];
  readonly url?: string;
  readonly contentType?: string | undefined;
  readonly now?: AdmitContext['now'];
  readonly isAllowed?: (url: URL) => boolean;
  readonly turn?: () => Promise<void>;
}

/** Judges a card given as a value or as text. */
export function judge(card: unknown, given: Given = {}): Promise<Outcome<AdmittedCard>> {
  return admitCard(utf8(typeof card === 'string' ? card : JSON.stringify(card)), {
    url: urlId(given.url ?? 'https://agent.example.com/.well-known/agent-card.json'),
    contentType: 'contentType' in given ? given.contentType : 'application/json',
    rule: { ...RULE, ...given.rule },
    keys: given.keys ?? [],
    now: given.now ?? NOW,
    ...(given.isAllowed === undefined ? {} : { isAllowed: given.isAllowed }),
    ...(given.turn === undefined ? {} : { turn: given.turn }),
  });
}

/** The verdict in a few words: `accepted 1.0 verified`, or the code. */
export function words(outcome: Outcome<AdmittedCard>): string {
  if (!outcome.ok) return outcome.refusal.code;
  const { facts, verdict } = outcome.value;
  return [
    'accepted',
    facts.protocolVersion,
    verdict.signature,
    ...(verdict.why === undefined ? [] : [verdict.why]),
  ].join(' ');
}

/** A full, unsigned 1.0 card; members given replace its own, undefined ones are left out. */
export const card10 = (over: Readonly<Record<string, unknown>> = {}): Record<string, unknown> => ({
  name: 'Weather',
  description: 'Tells the weather of a place',
  supportedInterfaces: [
    { url: 'https://agent.example.com/a2a/v1', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
  ],
  version: '1.0.0',
  capabilities: { streaming: true },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'now', name: 'Now', description: 'The weather at this hour', tags: ['weather'] }],
  ...over,
});

/** The same agent in 0.3. */
export const card03 = (over: Readonly<Record<string, unknown>> = {}): Record<string, unknown> => ({
  protocolVersion: '0.3.0',
  name: 'Weather',
  description: 'Tells the weather of a place',
  url: 'https://agent.example.com/a2a/v1',
  preferredTransport: 'JSONRPC',
  version: '1.0.0',
  capabilities: { streaming: true },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'now', name: 'Now', description: 'The weather at this hour', tags: ['weather'] }],
  ...over,
});

export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Reads a value as the scanner does. */
export function scanned(value: unknown): Json {
  const scan = scanJson(typeof value === 'string' ? value : JSON.stringify(value), 64);
  if (!scan.ok) throw new Error(scan.fault.what);
  return scan.value;
}

export function scannedObject(value: unknown): JsonObject {
  const json = scanned(value);
  if (!isObject(json)) throw new Error('not an object');
  return json;
}

/** A key set of this name, from a JWK Set or a PEM document. */
export async function keySet(
  name: string,
  document: unknown,
  over: Partial<KeySetOrigin & KeySet> = {},
): Promise<KeySet> {
  const reading = await parseKeySet(utf8(JSON.stringify(document)), { name, revoked: [], fetchedAt: NOW, ...over });
  if (!reading.ok) throw new Error(reading.why);
  return { ...reading.set, ...over };
}
