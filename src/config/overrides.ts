import type { GivenScalar } from './given.ts';
import { nearest } from './nearest.ts';
import { memberPath, type Problem } from './place.ts';
import type { SectionType, ShortType } from './table.ts';

/** A scalar setting outside lists and named sections, which has one name in three places. */
export interface NamedSetting {
  /** `cache.maxStale` */
  readonly path: string;
  /** `--cache-max-stale` */
  readonly flag: string;
  /** `CARDEA_CACHE_MAX_STALE` */
  readonly variable: string;
  /** True where the flag alone means `true`. */
  readonly isSwitch: boolean;
}

/** One setting as a flag gave it; the last of several goes. */
export interface FlagValue {
  readonly flag: string;
  readonly value: string;
}

export type Environment = { readonly [name: string]: string | undefined };

/** Lists every setting that a flag or a variable may give. */
export function namedSettings(section: SectionType, parent = ''): readonly NamedSetting[] {
  return Object.entries(section.rows).flatMap(([key, { node }]) => {
    const path = memberPath(parent, key);
    if (node.kind === 'section') return namedSettings(node, path);
    if (node.kind === 'short') return namedShort(node, path);
    return node.kind === 'scalar' ? [nameSetting(path, node.schema['type'] === 'boolean')] : [];
  });
}

/** The main member has the name of the whole. */
function namedShort({ main, section }: ShortType, path: string): readonly NamedSetting[] {
  const beside = Object.fromEntries(Object.entries(section.rows).filter(([key]) => key !== main));
  return [nameSetting(path, false), ...namedSettings({ kind: 'section', rows: beside }, path)];
}

function nameSetting(path: string, isSwitch: boolean): NamedSetting {
  const words = path.replaceAll('.', '-').replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const variable = `CARDEA_${words.replaceAll('-', '_').toUpperCase()}`;
  return { path, flag: `--${words}`, variable, isSwitch };
}

export interface Overrides {
  readonly values: ReadonlyMap<string, GivenScalar>;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/** Reads flags and environment; flags go before the environment. */
export function readOverrides(
  settings: readonly NamedSetting[],
  flags: readonly FlagValue[],
  env: Environment,
): Overrides {
  const values = new Map<string, GivenScalar>();
  for (const { path, variable } of settings) {
    const text = env[variable];
    // An empty variable is how a manifest or a compose file leaves one out.
    if (text !== undefined && text !== '') {
      values.set(path, { kind: 'scalar', text, plain: true, at: { from: 'environment', name: variable } });
    }
  }
  const problems: Problem[] = [];
  for (const { flag, value } of flags) {
    const setting = settings.find((each) => each.flag === flag);
    if (setting === undefined)
      problems.push({ at: { from: 'flag', name: flag }, path: '', message: unknownFlag(flag, settings) });
    else values.set(setting.path, { kind: 'scalar', text: value, plain: true, at: { from: 'flag', name: flag } });
  }
  return { values, problems, warnings: unknownVariables(settings, env) };
}

function unknownFlag(flag: string, settings: readonly NamedSetting[]): string {
  const near = nearest(
    flag,
    settings.map((each) => each.flag),
  );
  return near === null ? 'no such setting' : `no such setting; did you mean ${near}?`;
}

/** What Kubernetes sets for a Service that is called "cardea": `CARDEA_PORT_8642_TCP=…`, `CARDEA_SERVICE_HOST=…`. */
const OF_KUBERNETES = /^CARDEA_(?:PORT|SERVICE)(?:_|$)/;

/** A variable that does nothing is a warning, not an error: others may share the prefix. */
function unknownVariables(settings: readonly NamedSetting[], env: Environment): readonly Problem[] {
  const known = settings.map((each) => each.variable);
  const unknown = Object.keys(env).filter(
    (name) => name.startsWith('CARDEA_') && !OF_KUBERNETES.test(name) && !known.includes(name),
  );
  return unknown.map((name) => {
    const near = nearest(name, known);
    const message =
      near === null ? 'no setting has this name; it does nothing' : `no setting has this name; did you mean ${near}?`;
    return { at: { from: 'environment', name }, path: '', message };
  });
}
