import { type LoadedConfig, loadConfig } from '../config/load.ts';
import { formatProblem } from '../config/place.ts';
import { CONFIG_FLAG, JSON_FLAG, parseArgs } from './args.ts';
import type { ValidConfig } from './check.ts';
import type { Command, Io } from './command.ts';
import { diskFindings } from './disk-findings.ts';
import { type Asked, type Finding, clockFinding, originFindings } from './findings.ts';
import { usageProblems } from './help.ts';
import { type LookedAt, registryFindings } from './registry-findings.ts';
import { inspectKeys } from './inspect-keys.ts';
import { paint, plainText, showProgress } from './terminal.ts';

/** Asks every origin of a configuration, as the daemon would. */
export interface Examine {
  agents(config: ValidConfig): AsyncIterable<Asked>;
  /** The registries, and what they say of the agents that name them. */
  registries(config: ValidConfig): Promise<readonly LookedAt[]>;
  /** The key sets at URLs, and whether each could be had. */
  keys(config: ValidConfig): Promise<readonly { readonly name: string; readonly had: boolean }[]>;
}

const FLAGS = { config: CONFIG_FLAG, json: JSON_FLAG } as const;

/** `cardea doctor`: what works, what does not, what to change. */
export function doctorCommand(examine: Examine): Command {
  const command: Command = {
    name: 'doctor',
    operands: '',
    summary: 'Says what works here, what does not, and what to change',
    help: `It reads the configuration, looks at the disk and the clock, reads the registries, and asks every origin for its card and
its keys, as the daemon would and from where it would. It changes nothing and needs no daemon.

  cardea doctor --config cardea.yaml
  kubectl exec POD -c cardea -- /usr/local/bin/node /app/launch.mjs doctor`,
    flags: FLAGS,
    settings: true,
    exits: '0 all works · 1 something does not · 2 called wrongly',
    run: (io) => runDoctor(command, examine, io),
  };
  return command;
}

async function runDoctor(command: Command, examine: Examine, io: Io): Promise<number> {
  const args = parseArgs(io.argv, { flags: FLAGS, settings: true, operands: { least: 0, most: 0 } });
  if (!args.ok) return usageProblems(command, args.problems, io);
  const config = await loadConfig({ ...io, inspectKeys, file: args.flags.config, flags: args.settings });
  const found: Finding[] = [];
  for await (const finding of everything(config, examine, io)) {
    found.push(finding);
    if (!args.flags.json) io.stdout.write(line(finding, io));
  }
  const ok = found.every(({ level }) => level !== 'fail');
  if (args.flags.json) io.stdout.write(`${JSON.stringify({ ok, findings: found }, null, 2)}\n`);
  else io.stdout.write(ok ? 'everything that was looked at works\n' : `${count(found)} to mend\n`);
  return ok ? 0 : 1;
}

/** From what needs nothing to what needs all before it. */
async function* everything(config: LoadedConfig, examine: Examine, io: Io): AsyncGenerator<Finding> {
  yield* configurationFindings(config);
  if (!config.ok) return;
  yield* await diskFindings(config.settings);
  for (const each of config.rules.registries.length > 0 ? await examine.registries(config) : [])
    yield* registryFindings(each);
  const asked: Asked[] = [];
  const names = [...config.rules.agents.keys()];
  const progress = showProgress(io);
  progress(`asking for the card of ${names[0] ?? ''}`);
  for await (const each of examine.agents(config)) {
    asked.push(each);
    progress(null);
    yield* originFindings(each);
    const next = names[asked.length];
    if (next !== undefined) progress(`asking for the card of ${next}`);
  }
  progress(null);
  const clock = clockFinding(asked);
  if (clock !== undefined) yield clock;
  for (const { name, had } of await examine.keys(config)) yield keysFinding(name, had);
}

function* configurationFindings(config: LoadedConfig): Generator<Finding> {
  const about = (level: Finding['level'], found: string, mend: string | null): Finding => ({
    area: 'configuration',
    level,
    about: '',
    found,
    mend,
  });
  for (const warning of config.warnings) yield about('look', formatProblem(warning), null);
  if (!config.ok) {
    for (const problem of config.problems)
      yield about('fail', formatProblem(problem), 'Nothing else is looked at before this is mended.');
    return;
  }
  yield about('ok', `${config.file} is valid`, null);
  if (config.settings.agents.size === 0 && config.settings.origins.length === 0) {
    yield about('look', 'it names no agent and no origin', 'Add one: docs/configuration.md has an example.');
  }
}

const keysFinding = (name: string, had: boolean): Finding =>
  had
    ? { area: 'keys', level: 'ok', about: name, found: 'its keys can be had', mend: null }
    : {
        area: 'keys',
        level: 'fail',
        about: name,
        found: 'its keys cannot be had',
        mend: 'Try its URL from this machine; a set that cannot be reached can be given as a `file`.',
      };

const MARKS = { ok: 'ok  ', look: 'look', fail: 'FAIL' } as const;
const COLOURS = { ok: 'green', look: 'yellow', fail: 'red' } as const;

function line({ area, level, about, found, mend }: Finding, io: Io): string {
  const subject = about === '' ? area : `${area} ${about}`;
  const first = `${paint(COLOURS[level], MARKS[level], io)} ${subject}: ${plainText(found)}\n`;
  return mend === null ? first : `${first}       ${plainText(mend)}\n`;
}

const count = (found: readonly Finding[]): string => {
  const failed = found.filter(({ level }) => level === 'fail').length;
  return `${failed} thing${failed === 1 ? '' : 's'}`;
};
