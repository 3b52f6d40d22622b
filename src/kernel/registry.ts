import type { Url } from './ids.ts';

/** What a registry can say of an agent, whatever words it has for it. */
export const REGISTRY_STATUSES = [
  /** It may be used. */
  'approved',
  /** It may still be used, and should not be for long. */
  'deprecated',
  /** It is announced and not yet released. */
  'pending',
  /** The registry does not list it, or says something that nobody knows. */
  'unknown',
  /** Its time is over. */
  'retired',
  /** It must not be used. */
  'revoked',
] as const;
export type RegistryStatus = (typeof REGISTRY_STATUSES)[number];

/** One agent as a registry lists it. It says where a card is and whether it may be used: the card itself is judged elsewhere. */
export interface Listing {
  readonly status: RegistryStatus;
  /** Where its card is; null where the registry names no place that can be fetched. */
  readonly card: Url | null;
  /** What the registry itself says, for people: its own word for the status, or what is wrong with the entry. */
  readonly said: string;
}
