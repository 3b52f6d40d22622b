import type { Document, LineCounter, YAMLError } from 'yaml';
import { DocumentWalk } from './document-walk.ts';
import type { Given } from './given.ts';
import type { Place, Problem } from './place.ts';
import { loadYaml, type Yaml } from './yaml-parser.ts';

/** Ten thousand agents of 400 bytes; a file that is larger is not a configuration. */
const MAX_BYTES = 4 * 1024 * 1024;

export interface ReadDocument {
  readonly given: Given | null;
  readonly problems: readonly Problem[];
}

/** What the parser reports, as an error or as a warning (a tag that it does not know). */
type SyntaxReport = Pick<YAMLError, 'code' | 'message' | 'pos'>;

/** Reads YAML 1.2 (core schema) with positions. Anchors may be used again, within bounds; own tags and merge keys are not read. */
export function readDocument(content: Uint8Array, file: string): ReadDocument {
  const whole: Place = { from: 'file', file, line: 1, column: 1 };
  const fail = (message: string): ReadDocument => ({ given: null, problems: [{ at: whole, path: '', message }] });
  if (content.length > MAX_BYTES) return fail(`is ${content.length} bytes long; ${MAX_BYTES} is the most that is read`);
  const text = decode(content);
  if (text === null) return fail('is not UTF-8; save it as UTF-8');
  const yaml = loadYaml();
  const lines = new yaml.LineCounter();
  const document = parse(yaml, text, lines);
  if (document === null) return fail('is nested too deeply to be a configuration');
  const at = (offset: number): Place => placeOf(file, lines, offset);
  const syntax = [...document.errors, ...document.warnings];
  if (syntax.length > 0)
    return { given: null, problems: syntax.map((error) => syntaxProblem(error, at(error.pos[0]), text)) };
  const walk = new DocumentWalk(yaml, at);
  const given = document.contents === null ? null : walk.read(document.contents, '', 0);
  return { given, problems: walk.problems };
}

function decode(content: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    return null; // the only error that decoding has
  }
}

function parse(yaml: Yaml, text: string, lines: LineCounter): Document.Parsed | null {
  try {
    // Duplicate keys are found by the walk, which can say where the first one stands.
    const options = { version: '1.2', merge: false, uniqueKeys: false, stringKeys: true } as const;
    return yaml.parseDocument(text, { ...options, prettyErrors: false, lineCounter: lines });
  } catch (cause) {
    if (cause instanceof RangeError) return null; // the parser recurses: the stack is its bound
    throw cause;
  }
}

function placeOf(file: string, lines: LineCounter, offset: number): Place {
  const { line, col } = lines.linePos(offset);
  return { from: 'file', file, line: Math.max(1, line), column: Math.max(1, col) };
}

function syntaxProblem(error: SyntaxReport, at: Place, text: string): Problem {
  return { at, path: '', message: `is not well-formed YAML: ${syntaxMessage(error, text)}` };
}

function syntaxMessage(error: SyntaxReport, text: string): string {
  const start = text.lastIndexOf('\n', error.pos[0] - 1) + 1;
  const line = text.slice(start, start + 200).split('\n', 1)[0] ?? '';
  const hint = /\[[0-9a-fA-F:.]+\]:\d/.test(line)
    ? '; an address with brackets is written in quotes: "[::1]:8642"'
    : '';
  return `${error.message}${hint}`;
}
