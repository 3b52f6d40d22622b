import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { JSON_FLAG, parseArgs } from './args.ts';
import type { Command, Io } from './command.ts';
import { usageProblems } from './help.ts';
import { type Manifest, type Workload, WORKLOAD_KINDS, readManifest, textAt } from './manifest.ts';
import { type Manner, type Sidecar, addSidecar, conflictsWith, hasSidecar, readSidecar } from './sidecar.ts';

const FLAGS = {
  file: { takes: 'FILE', short: 'f', doc: 'The manifest; "-" for standard input.' },
  image: { takes: 'IMAGE', doc: 'The image of Cardea; "cardea" unless said, or what stands there already.' },
  plain: { takes: null, doc: 'An ordinary container, for Kubernetes before 1.29.' },
  check: { takes: null, doc: 'Adds nothing: says whether every workload that is labelled `cardea: sidecar` has it.' },
  json: JSON_FLAG,
} as const;

/** `cardea inject`: a manifest with the sidecar added. */
export const injectCommand: Command = {
  name: 'inject',
  operands: '',
  summary: 'Prints a Kubernetes manifest with the sidecar added',
  help: `Every ${WORKLOAD_KINDS.slice(0, -1).join(', ')} and ${WORKLOAD_KINDS.at(-1)} in it gets the container and its volumes; all else, comments too, stays.
Nothing is applied, and what has the sidecar already gets the present one in its place. Cardea reads its configuration
from the ConfigMap cardea-config:

  kubectl create configmap cardea-config --from-file=cardea.yaml
  cardea inject -f deployment.yaml --image registry.example/cardea:0.1.0 | kubectl apply -f -

With --check it says what kustomize does not, namely that a label selector matched nothing:

  kubectl kustomize overlay | cardea inject --check -f -`,
  flags: FLAGS,
  settings: false,
  exits: '0 added, or the check holds · 1 cannot be added, or the check fails · 2 called wrongly',
  run: runInject,
};

async function runInject(io: Io): Promise<number> {
  const args = parseArgs(io.argv, { flags: FLAGS, settings: false, operands: { least: 0, most: 0 } });
  if (!args.ok) return usageProblems(injectCommand, args.problems, io);
  const { file, image, plain, check, json } = args.flags;
  if (file === null) return usageProblems(injectCommand, ['name the manifest: -f FILE'], io);
  const text = await readText(file, io);
  if (text === null) return fail([`${file}: cannot be read`], io);
  const reading = readManifest(text, file);
  if (!reading.ok) return fail(reading.problems, io);
  if (check) return report(checkManifest(reading.manifest), json, io);
  const problems = problemsOf(reading.manifest, file);
  if (problems.length > 0) return fail(problems, io);
  const sidecar = await ownSidecar(plain ? 'containers' : 'initContainers', io);
  for (const workload of reading.manifest.workloads) addSidecar(workload, sidecar, image);
  const written = reading.manifest.write();
  const names = reading.manifest.workloads.map(({ name }) => name);
  io.stdout.write(json ? `${JSON.stringify({ added: names, manifest: written })}\n` : written);
  return 0;
}

async function readText(file: string, io: Io): Promise<string | null> {
  try {
    return new TextDecoder().decode(await io.readFile(file === '-' ? '/dev/stdin' : resolve(io.cwd, file)));
  } catch {
    return null;
  }
}

function problemsOf({ workloads }: Manifest, file: string): readonly string[] {
  if (workloads.length === 0) return [`${file}: holds none of ${WORKLOAD_KINDS.join(', ')}: nothing makes a Pod`];
  return workloads.flatMap(conflictsWith);
}

/** Reads the component that is part of this program. */
async function ownSidecar(manner: Manner, io: Io): Promise<Sidecar> {
  const patch = manner === 'containers' ? 'sidecar-plain/container.yaml' : 'sidecar/sidecar.yaml';
  const url = new URL(`../../deploy/kustomize/components/${patch}`, import.meta.url);
  return readSidecar(new TextDecoder().decode(await io.readFile(fileURLToPath(url))), manner);
}

/** What the check found. */
interface Check {
  readonly ok: boolean;
  readonly workloads: readonly { readonly name: string; readonly labelled: boolean; readonly sidecar: boolean }[];
  readonly problems: readonly string[];
}

const LABEL = 'cardea: sidecar';

function checkManifest({ workloads }: Manifest): Check {
  const found = workloads.map((workload) => ({
    name: workload.name,
    labelled: isLabelled(workload),
    sidecar: hasSidecar(workload),
  }));
  const without = found.filter(({ labelled, sidecar }) => labelled && !sidecar);
  const problems = without.map(
    ({ name }) =>
      `${name} is labelled "${LABEL}" and has no sidecar: the component selects Deployments alone, and must be among the overlay's components`,
  );
  if (!found.some(({ sidecar }) => sidecar) && without.length === 0) problems.push(nothingMatched(found));
  return { ok: problems.length === 0, workloads: found, problems };
}

const isLabelled = ({ labels }: Workload): boolean => labels !== undefined && textAt(labels, ['cardea']) === 'sidecar';

const nothingMatched = (found: readonly { readonly name: string }[]): string =>
  found.length === 0
    ? 'nothing here makes a Pod'
    : `the label "${LABEL}" matched nothing: none of ${found.map(({ name }) => name).join(', ')} carries it among its own labels (those of its Pods do not count)`;

function report(check: Check, json: boolean, io: Io): number {
  if (json) io.stdout.write(`${JSON.stringify(check)}\n`);
  else if (!check.ok) return fail(check.problems, io);
  else for (const { name, sidecar } of check.workloads) io.stdout.write(`${sidecar ? 'sidecar' : 'none   '} ${name}\n`);
  return check.ok ? 0 : 1;
}

function fail(problems: readonly string[], io: Io): number {
  for (const problem of problems) io.stderr.write(`cardea inject: ${problem}\n`);
  return 1;
}
