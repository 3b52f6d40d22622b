/** Branded strings: what is checked once at the door keeps its type from there on. */
declare const id: unique symbol;
type Id<Name extends string> = string & { readonly [id]: Name };

/** A name from the configuration, `[a-z0-9-]{1,63}`. */
export type AgentName = Id<'AgentName'>;
/** A normalised origin: scheme, lower-case A-label host, port only where it is not the scheme's own. `https://a.example:8443`. */
export type Origin = Id<'Origin'>;
/** An absolute http(s) URL in WHATWG form, without userinfo and fragment. */
export type Url = Id<'Url'>;
/** The primary cache key: partition, agent and URL. Made in `discovery/key.ts` alone. */
export type EntryKey = Id<'EntryKey'>;
/** The secondary key: the selecting request fields that `Vary` names, in canonical form (RFC 9111 §4.1). */
export type VariantKey = Id<'VariantKey'>;
/** `sha256:` and lower-case hex of the RFC 8785 form of an admitted card without `signatures`. */
export type CardDigest = Id<'CardDigest'>;
/** The digest of every rule and key that a verdict was reached under; another one today means judge again. */
export type PolicyDigest = Id<'PolicyDigest'>;
/** Names the record of one exchange, verdict, review or refusal. */
export type ReceiptId = Id<'ReceiptId'>;
/** Names one listener: `agents`, `ops`, `admin`, an agent's name, or `origin:ORIGIN`. */
export type ListenerName = Id<'ListenerName'>;
/** What purge and kill match: `agent:NAME`, `origin:HOST`, `kid:ID`, … or `all`. */
export type Tag = Id<'Tag'>;
/** Counts purges and kills; what was fetched under an older one is not put back. */
export type Generation = number & { readonly [id]: 'Generation' };

export const agentName = (value: string): AgentName => value as AgentName;
export const origin = (value: string): Origin => value as Origin;
export const urlId = (value: string): Url => value as Url;
export const variantKey = (value: string): VariantKey => value as VariantKey;
export const cardDigest = (hex: string): CardDigest => `sha256:${hex}` as CardDigest;
export const policyDigest = (value: string): PolicyDigest => value as PolicyDigest;
export const receiptId = (value: string): ReceiptId => value as ReceiptId;
export const listenerName = (value: string): ListenerName => value as ListenerName;
export const tag = (value: string): Tag => value as Tag;
export const generation = (value: number): Generation => value as Generation;
