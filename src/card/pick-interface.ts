import type { CallerVersion } from '../kernel/ask.ts';
import type { CardRule } from '../kernel/card-rule.ts';
import { type Url, urlId } from '../kernel/ids.ts';
import { type Outcome, type Refusal, accepted, refuse, refused } from '../kernel/refusal.ts';
import { type Interface, allInterfaces, interfaceUrl } from './interfaces.ts';
import type { JsonObject } from './json.ts';
import { parseCard } from './parse.ts';
import { type CardVersion, KNOWN_VERSIONS } from './version.ts';

/** The bindings that Cardea speaks with agents. */
export const BINDINGS = ['JSONRPC', 'HTTP+JSON'] as const;
export type Binding = (typeof BINDINGS)[number];

/** An interface of an accepted card that calls can be sent to. */
export interface CarriedInterface {
  readonly url: Url;
  readonly binding: Binding;
  readonly version: CardVersion;
  /** `''` where the interface declares none. */
  readonly tenant: string;
}

/** What a call needs of an interface. */
export interface Wanted {
  readonly binding: Binding;
  readonly version: CallerVersion;
  /** `''` for none. */
  readonly tenant: string;
}

/** Reads one interface; undefined where Cardea does not speak its binding, its scheme, or a version that the agent may speak. */
export function carried(one: Interface, rule: Pick<CardRule, 'versions'>): CarriedInterface | undefined {
  const binding = BINDINGS.find((known) => known === one.binding.toUpperCase());
  const version = KNOWN_VERSIONS.find((known) => known === one.version && rule.versions.includes(known));
  const url = interfaceUrl(one);
  if (binding === undefined || version === undefined || url === undefined) return undefined;
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return undefined;
  url.hash = '';
  return { url: urlId(url.href), binding, version, tenant: one.tenant ?? '' };
}

/** Lists the interfaces that Cardea can carry, in the card's order, each once. */
export function carriedInterfaces(card: JsonObject, rule: Pick<CardRule, 'versions'>): readonly CarriedInterface[] {
  const found = new Map<string, CarriedInterface>();
  for (const one of allInterfaces(card)) {
    const read = carried(one, rule);
    if (read === undefined) continue;
    const key = JSON.stringify([read.url, read.binding, read.version, read.tenant]);
    if (!found.has(key)) found.set(key, read);
  }
  return [...found.values()];
}

/** The same from the bytes of a card that was accepted. */
export function interfacesOf(body: Uint8Array, rule: CardRule): readonly CarriedInterface[] {
  const parsed = parseCard(body, rule);
  return parsed.ok ? carriedInterfaces(parsed.value, rule) : [];
}

/**
 * Picks the interfaces that a call may go to, in the card's order: those in its binding and version that declare exactly its tenant.
 * Never empty.
 */
export function pickInterfaces(
  interfaces: readonly CarriedInterface[],
  { binding, version, tenant }: Wanted,
): Outcome<readonly CarriedInterface[]> {
  const inBinding = interfaces.filter((one) => one.binding === binding);
  if (inBinding.length === 0) {
    const others = listed(interfaces.map((one) => one.binding));
    return refused(
      refuse('not-routed', `The agent has no ${binding} interface that can be carried; its card names ${others}.`),
    );
  }
  const inVersion = inBinding.filter((one) => speaks(one, version));
  if (inVersion.length === 0) {
    const others = listed(inBinding.map((one) => one.version));
    const asked = version === 'absent' ? '0.3, which a request without A2A-Version is,' : version;
    return refused(
      refuse(
        'version-not-supported',
        `The agent does not speak A2A ${asked} over ${binding}; send A2A-Version: ${others}.`,
      ),
    );
  }
  const forTenant = inVersion.filter((one) => one.tenant === tenant);
  return forTenant.length > 0 ? accepted(forTenant) : refused(unknownTenant());
}

/** The very answer that an unknown agent gets: which tenants an agent has is nobody's business who does not know. */
export const unknownTenant = (): Refusal =>
  refuse('unknown-agent', 'No agent of this name is served here; GET /agents lists those that are.');

/** A caller that says nothing is of 0.3 or older (A2A 1.0 §3.6), and 0.2 has the operations that 0.3 has. */
const speaks = ({ version }: CarriedInterface, caller: CallerVersion): boolean =>
  caller === '1.0' ? version === '1.0' : version === '0.3' || version === '0.2';

const listed = (words: readonly string[]): string => [...new Set(words)].join(', ') || 'none';
