/**
 * Header fields as Node and undici hand them over: names and values in turn, in the order received, names in any case.
 * One representation from the wire to the wire; `http/fields.ts` reads and edits it.
 */
export type Fields = readonly string[];

/** A body on its way through: Node streams are such, and nothing here needs more of them. */
export type ByteStream = AsyncIterable<Uint8Array>;
