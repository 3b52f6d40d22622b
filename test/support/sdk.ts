/** Joins a base URL and the well-known path as the SDKs of other languages do. */
const PATH = '.well-known/agent-card.json';

export const JOINS: Readonly<Record<string, (base: string) => string>> = {
  /** JavaScript's and .NET's: a relative reference against the base, whose last segment goes unless it ends in "/". */
  'JavaScript and .NET': (base) => new URL(PATH, base).href,
  /** Python's, Go's and Java's: the base without a trailing "/", then the path. */
  'Python, Go and Java': (base) => `${base.replace(/\/$/, '')}/${PATH}`,
};
