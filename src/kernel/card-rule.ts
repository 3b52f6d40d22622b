import type { AgentName, Url } from './ids.ts';
import type { Bytes } from './units.ts';

/** What a card of one agent must be to be admitted. */
export interface CardRule {
  readonly agent: AgentName | null;
  readonly maxBytes: Bytes;
  readonly maxDepth: number;
  readonly schema: 'strict' | 'compatible' | 'off';
  /** Card versions that are accepted, as Major.Minor. */
  readonly versions: readonly string[];
  readonly signature: 'off' | 'if-present' | 'require';
  /** Distinct trusted keys needed. */
  readonly signatures: number;
  readonly uncovered: 'drop' | 'refuse';
  /** Names of the key sets that may sign this card. */
  readonly keys: readonly string[];
  /** Exact URLs that a signature's `jku` may name. */
  readonly jku: readonly Url[];
  readonly interfaces: 'same-origin' | 'same-site' | 'allowed' | 'any';
  /** `through`: what is served names Cardea's own interfaces, so that the card must have one that Cardea can carry. */
  readonly route: 'direct' | 'through';
  /** True where interface URLs may be http://. */
  readonly cleartext: boolean;
  /** Required extensions that local clients honour. */
  readonly extensions: readonly string[];
}
