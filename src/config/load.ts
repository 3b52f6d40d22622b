import path from 'node:path';
import type { Rules } from '../policy/rules.ts';
import { checkTogether, doubts, type Finding } from './checks.ts';
import { compileListeners, compileRules, type ListenSettings } from './compile.ts';
import { readDocument } from './document.ts';
import { filesAwaited, filesNeeded, filesRead } from './files-needed.ts';
import { type InspectKeys, readKeys } from './key-documents.ts';
import { type Environment, type FlagValue, namedSettings, readOverrides } from './overrides.ts';
import { readPins } from './pins.ts';
import type { Place, Problem } from './place.ts';
import { readTable } from './read.ts';
import { SCHEMA, type Settings } from './schema.ts';
import type { Draft } from './table.ts';

/** What a configuration is made from. */
export interface ConfigOrder {
  /** The file that was asked for; null for the first of the usual ones that is there. */
  readonly file: string | null;
  readonly flags: readonly FlagValue[];
  readonly env: Environment;
  readonly cwd: string;
  /** Reads a whole file; throws as `node:fs` does. */
  readonly readFile: (path: string) => Promise<Uint8Array>;
  readonly inspectKeys: InspectKeys;
}

/** A whole configuration, or everything that is wrong with it. */
export type LoadedConfig =
  | {
      readonly ok: true;
      /** Absolute. */
      readonly file: string;
      /** True where nothing is written in it, not even a comment: as in a file that somebody is about to write. */
      readonly isBlank: boolean;
      readonly settings: Settings;
      readonly rules: Rules;
      readonly listen: ListenSettings;
      readonly warnings: readonly Problem[];
      /** Absolute paths of everything that it was read from, itself included. */
      readonly files: readonly string[];
      /** Where each setting came from, by path. */
      readonly sources: ReadonlyMap<string, Place>;
    }
  | {
      readonly ok: false;
      readonly problems: readonly Problem[];
      readonly warnings: readonly Problem[];
      /** The same, as far as it could be read: a change of one of them may mend it. */
      readonly files: readonly string[];
    };

/** Everything up to it is white space or nothing that YAML takes. */
const SPACE = 0x20;

/** Where the daemon looks when no file is named. */
export const USUAL_FILES = ['cardea.yaml', '/etc/cardea/cardea.yaml'] as const;

/** Reads, checks and compiles a configuration. Never throws for what a user wrote. */
export async function loadConfig(order: ConfigOrder): Promise<LoadedConfig> {
  const overrides = readOverrides(namedSettings(SCHEMA), order.flags, order.env);
  const { warnings } = overrides;
  const found = await findFile(order);
  if (!found.ok) return { ok: false, problems: [...overrides.problems, found.problem], warnings, files: found.looked };
  const document = readDocument(found.content, found.shown);
  const folders = { file: path.dirname(found.file), elsewhere: order.cwd };
  const table = readTable(SCHEMA, document.given, {
    folderOf: (at) => (at.from === 'flag' || at.from === 'environment' ? folders.elsewhere : folders.file),
    kubernetes: (order.env['KUBERNETES_SERVICE_HOST'] ?? '') !== '',
    overrides: overrides.values,
  });
  const locate = (finding: Finding): Problem => ({ ...finding, at: placeOf(finding.path, table.sources, found.shown) });
  // The table's reader makes what the table's type says, except where it has reported a problem.
  const draft = table.value as Draft<Settings>;
  const missing = await unreadable(filesNeeded(draft), order.readFile);
  const awaited = await unreadable(filesAwaited(draft), order.readFile);
  const keys = await readKeys(draft, order);
  const pins = await readPins(draft, order.readFile);
  const together = [...checkTogether(draft), ...missing, ...keys.problems, ...pins.problems].map(locate);
  const problems = [...overrides.problems, ...document.problems, ...table.problems, ...together].toSorted(byPlace);
  const files = [...new Set([found.file, ...filesRead(draft)])];
  if (problems.length > 0) return { ok: false, problems, warnings, files };
  const settings = table.value as Settings;
  return {
    ok: true,
    file: found.file,
    isBlank: found.content.every((byte) => byte <= SPACE),
    settings,
    rules: compileRules(settings, keys.documents, pins.files),
    listen: compileListeners(settings),
    warnings: [...warnings, ...[...doubts(settings), ...awaited, ...keys.warnings].map(locate)],
    files,
    sources: table.sources,
  };
}

type FoundFile =
  | { readonly ok: true; readonly file: string; readonly shown: string; readonly content: Uint8Array }
  | { readonly ok: false; readonly problem: Problem; readonly looked: readonly string[] };

async function findFile({ file, cwd, readFile }: ConfigOrder): Promise<FoundFile> {
  const named = file === null ? USUAL_FILES : [file];
  const looked = named.map((each) => path.resolve(cwd, each));
  for (const shown of named) {
    const absolute = path.resolve(cwd, shown);
    try {
      return { ok: true, file: absolute, shown, content: await readFile(absolute) };
    } catch (cause) {
      if (file === null && codeOf(cause) === 'ENOENT') continue;
      return { ok: false, problem: wholeFile(shown, `cannot be read: ${describe(cause)}`), looked };
    }
  }
  return {
    ok: false,
    looked,
    problem: wholeFile(
      USUAL_FILES[0],
      `no configuration; neither ${USUAL_FILES.join(' nor ')} is there. Name one: --config FILE`,
    ),
  };
}

async function unreadable(
  files: readonly { path: string; file: string }[],
  readFile: ConfigOrder['readFile'],
): Promise<readonly Finding[]> {
  const findings = files.map(async ({ path: setting, file }): Promise<readonly Finding[]> => {
    try {
      await readFile(file);
      return [];
    } catch (cause) {
      return [{ path: setting, message: `${file} cannot be read: ${describe(cause)}` }];
    }
  });
  return (await Promise.all(findings)).flat();
}

const wholeFile = (file: string, message: string): Problem => ({
  at: { from: 'file', file, line: 0, column: 0 },
  path: '',
  message,
});

const codeOf = (cause: unknown): unknown => (cause instanceof Error && 'code' in cause ? cause.code : undefined);

/** Says in words what the system said in a code. */
function describe(cause: unknown): string {
  const code = codeOf(cause);
  if (code === 'ENOENT') return 'it is not there';
  if (code === 'EACCES' || code === 'EPERM') return 'this user may not read it';
  if (code === 'EISDIR') return 'it is a folder';
  return typeof code === 'string' ? code : String(cause);
}

/** Finds where a setting stands; what is not written stands where the section around it does. */
function placeOf(setting: string, sources: ReadonlyMap<string, Place>, file: string): Place {
  for (let at = setting; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('.'), at.lastIndexOf('[')))) {
    const place = sources.get(at);
    if (place !== undefined && place.from !== 'default') return place;
  }
  return { from: 'file', file, line: 1, column: 1 };
}

/** In the order of the file; what comes from elsewhere first. */
function byPlace({ at: one }: Problem, { at: other }: Problem): number {
  if (one.from !== 'file' || other.from !== 'file') return Number(one.from === 'file') - Number(other.from === 'file');
  return one.line - other.line || one.column - other.column;
}
