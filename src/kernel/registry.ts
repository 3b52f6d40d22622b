import type { Tag, Url } from './ids.ts';

/** The kinds of registry that are read. */
export const REGISTRY_KINDS = ['ai-catalog'] as const;
export type RegistryKind = (typeof REGISTRY_KINDS)[number];

/** What a registry can say of an agent, whatever words it has for it. */
export const REGISTRY_STATUSES = [
  'approved', // it may be used
  'deprecated', // it may still be used, and should not be for long
  'pending', // it is announced and not yet released
  'unknown', // the registry does not list it, says something that nobody knows, or cannot be had
  'retired', // its time is over
  'revoked', // it must not be used
] as const;
export type RegistryStatus = (typeof REGISTRY_STATUSES)[number];

/** What the configuration makes of a status. */
export const REGISTRY_ACTIONS = [
  'allow', // nothing stands in the way
  'report', // the same, and evidence says so
  'hold', // nothing new is taken in; the card in force is served as if a newer one waited
  'block', // no card is served, and none is kept
] as const;
export type RegistryAction = (typeof REGISTRY_ACTIONS)[number];

/** One agent as a registry lists it. It says where a card is and whether it may be used: the card itself is judged elsewhere. */
export interface Listing {
  readonly status: RegistryStatus;
  /** Where its card is; null where the registry names no place that can be fetched. */
  readonly card: Url | null;
  /** What the registry itself says, for people: its own word for the status, or what is wrong with the entry. */
  readonly said: string;
}

/** A registry's no: it holds wherever a kill of the agent would, until the registry itself takes it back. */
export interface RegistryStop {
  readonly scope: Tag;
  readonly registry: string;
  readonly status: RegistryStatus;
}

/** A registry whose document could not be read: why, for people. */
export class RegistryError extends Error {}
