import type { ChangeClass } from '../../kernel/change.ts';

/** The vocabulary of the field tables. Validation, canonical forms, the normalised view, differences and docs all read them. */

export type Kind =
  | { readonly is: 'string' }
  | { readonly is: 'boolean' }
  | { readonly is: 'strings' }
  /** Any JSON object (google.protobuf.Struct): its members belong to whoever wrote it. */
  | { readonly is: 'struct' }
  /** Names of the card's own choice, each with a string. */
  | { readonly is: 'texts' }
  | { readonly is: 'message'; readonly of: Message }
  | { readonly is: 'list'; readonly of: Message }
  /** Security schemes by name; `schemes.ts` knows their shapes. */
  | { readonly is: 'schemes' }
  /** Alternatives, each a set of schemes with scopes; `requirements.ts` knows their shapes. */
  | { readonly is: 'requirements' };

export interface Member {
  readonly name: string;
  /** Its protobuf name, which some servers write: `supportedInterfaces` → `supported_interfaces`. */
  readonly snake: string;
  readonly kind: Kind;
  readonly change: ChangeClass;
  /** The specification says REQUIRED. */
  readonly required?: true;
  /** Without it a client cannot call the agent at all: its absence is an error at every level. */
  readonly vital?: true;
  /** The protobuf keyword `optional`: set to its default is not the same as absent (A2A 1.0 §8.4.1). */
  readonly presence?: true;
  /** The values that the specification lists, where it lists them. */
  readonly values?: readonly string[];
  /** What absence means, where that is not the empty value; the 0.3 Python models leave it out of what they sign. */
  readonly absent?: string;
}

export interface Message {
  readonly name: string;
  readonly members: readonly Member[];
  /** The name of the oneof that all members belong to: exactly one may be set. */
  readonly oneOf?: string;
  /** The member that tells the items of a list apart, whatever their order; a list of what has none is in its order. */
  readonly key?: string;
}

export const STRING: Kind = { is: 'string' };
export const BOOLEAN: Kind = { is: 'boolean' };
export const STRINGS: Kind = { is: 'strings' };
export const STRUCT: Kind = { is: 'struct' };
export const TEXTS: Kind = { is: 'texts' };
export const SCHEMES: Kind = { is: 'schemes' };
export const REQUIREMENTS: Kind = { is: 'requirements' };
export const message = (of: Message): Kind => ({ is: 'message', of });
export const list = (of: Message): Kind => ({ is: 'list', of });

/** A row of a table: name, kind, class, and what else holds. */
export const row = (
  name: string,
  kind: Kind,
  change: ChangeClass,
  more: Omit<Member, 'name' | 'snake' | 'kind' | 'change'> = {},
): Member => ({ name, snake: snakeName(name), kind, change, ...more });

/** The protobuf name of a member. */
export const snakeName = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export function memberOf({ members }: Message, name: string): Member | undefined {
  for (const member of members) if (member.name === name) return member;
  return undefined;
}
