/** Where a setting came from: every problem and every line of `cardea config` names one. */
export type Place =
  | { readonly from: 'file'; readonly file: string; readonly line: number; readonly column: number }
  | { readonly from: 'flag'; readonly name: string }
  | { readonly from: 'environment'; readonly name: string }
  | { readonly from: 'default' };

/** One thing that is wrong (or, as a warning, doubtful) with the configuration. Never holds a secret. */
export interface Problem {
  readonly at: Place;
  /** The setting as it is written in the documentation: `agents.weather.origin`, `origins[2].match`; `''` for the whole file. */
  readonly path: string;
  /** What is wrong, and the right spelling. */
  readonly message: string;
}

/** Writes a place as it stands before a message: `cardea.yaml:3:5`, `--cache-max-stale`. */
export function formatPlace(at: Place): string {
  switch (at.from) {
    case 'file':
      return at.line === 0 ? at.file : `${at.file}:${at.line}:${at.column}`;
    case 'flag':
    case 'environment':
      return at.name;
    case 'default':
      return 'default';
  }
}

/** Writes `file:line:column path: message`; a flag or variable names its setting already. */
export function formatProblem({ at, path, message }: Problem): string {
  const named = at.from === 'flag' || at.from === 'environment' || path === '';
  return named ? `${formatPlace(at)}: ${message}` : `${formatPlace(at)} ${path}: ${message}`;
}

/** Names a member of a setting: `agents.weather`; a name that is no word is quoted. */
export function memberPath(parent: string, key: string): string {
  if (!/^[\w-]+$/.test(key)) return `${parent}[${quote(key)}]`;
  return parent === '' ? key : `${parent}.${key}`;
}

/** Names an element of a list: `origins[2]`, counted from 0 as in `jq` and JavaScript. */
export const itemPath = (parent: string, index: number): string => `${parent}[${index}]`;

/** Longer values say nothing more in a message. */
const QUOTED_LENGTH = 80;

/** Quotes what was written, control characters escaped, cut to a line. */
export function quote(text: string): string {
  return JSON.stringify(text.length > QUOTED_LENGTH ? `${text.slice(0, QUOTED_LENGTH)}…` : text);
}
