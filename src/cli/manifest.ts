import { type Document, LineCounter, type YAMLMap, YAMLSeq, isMap, isScalar, isSeq, parseAllDocuments } from 'yaml';

/** Kubernetes manifests as people write them: several documents with comments, which stay. */

/** One object that makes Pods. */
export interface Workload {
  /** `Deployment/weather`, for messages. */
  readonly name: string;
  /** Its own labels, not those of its Pods. */
  readonly labels: YAMLMap | undefined;
  /** `spec.template.spec`, or wherever its kind has it. */
  readonly pod: YAMLMap;
}

export interface Manifest {
  readonly workloads: readonly Workload[];
  /** The manifest as it is now. */
  write(): string;
}

export type ManifestReading =
  | { readonly ok: true; readonly manifest: Manifest }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Where each kind that makes Pods has their spec. */
const POD_SPECS: ReadonlyMap<string, readonly string[]> = new Map([
  ['Pod', ['spec']],
  ['Deployment', ['spec', 'template', 'spec']],
  ['StatefulSet', ['spec', 'template', 'spec']],
  ['DaemonSet', ['spec', 'template', 'spec']],
  ['ReplicaSet', ['spec', 'template', 'spec']],
  ['Job', ['spec', 'template', 'spec']],
  ['CronJob', ['spec', 'jobTemplate', 'spec', 'template', 'spec']],
]);

export const WORKLOAD_KINDS: readonly string[] = [...POD_SPECS.keys()];

/** Reads every document of a manifest, or says what is wrong with it as `FILE:LINE:COLUMN: …`. */
export function readManifest(text: string, file: string): ManifestReading {
  const lines = new LineCounter();
  const parsed = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false });
  const documents: readonly Document.Parsed[] = Array.isArray(parsed) ? parsed : [];
  const problems = documents.flatMap(({ errors }) =>
    errors.map(({ pos, message }) => {
      const { line, col } = lines.linePos(pos[0]);
      return `${file}:${line}:${col}: ${message}`;
    }),
  );
  if (problems.length > 0) return { ok: false, problems };
  const found = documents.flatMap(({ contents }) => [...workloadsIn(contents)]);
  const broken = found.filter((each) => typeof each === 'string');
  if (broken.length > 0) return { ok: false, problems: broken.map((problem) => `${file}: ${problem}`) };
  const manifest = {
    workloads: found.filter((each) => typeof each !== 'string'),
    write: () => documents.map((document, at) => written(document, at === 0, text)).join(''),
  };
  return { ok: true, manifest };
}

/** Finds what makes Pods, in a `List` too; a text is a problem. */
function* workloadsIn(node: unknown): Generator<Workload | string> {
  if (!isMap(node)) return;
  const kind = textAt(node, ['kind']);
  const items = node.get('items');
  if (kind.endsWith('List') && isSeq(items)) {
    for (const item of items.items) yield* workloadsIn(item);
  }
  const path = POD_SPECS.get(kind);
  if (path === undefined) return;
  const name = `${kind}/${textAt(node, ['metadata', 'name']) || textAt(node, ['metadata', 'generateName']) || '?'}`;
  const pod = node.getIn(path);
  const labels = node.getIn(['metadata', 'labels']);
  if (isMap(pod)) yield { name, pod, labels: isMap(labels) ? labels : undefined };
  else yield `${name} has no ${path.join('.')}`;
}

export function textAt(node: YAMLMap, path: readonly string[]): string {
  const value: unknown = node.getIn(path);
  return typeof value === 'string' ? value : '';
}

/** Gives the list at a key, made where there is none; undefined where something else stands there. */
export function listAt(node: YAMLMap, key: string): YAMLSeq | undefined {
  const found = node.get(key, true);
  if (isSeq(found)) return found;
  const isEmpty = found === undefined || (isScalar(found) && found.value === null);
  if (!isEmpty) return undefined;
  const made = new YAMLSeq();
  node.set(key, made);
  return made;
}

/** The members of a list that are maps, with where they stand. */
export function mapsIn(list: unknown): readonly (readonly [at: number, map: YAMLMap])[] {
  if (!isSeq(list)) return [];
  return list.items.flatMap((item, at) => (isMap(item) ? [[at, item] as const] : []));
}

/** Writes a document in the manner of its file: lists at the depth of their key, where the file has them there. */
function written(document: Document, isFirst: boolean, text: string): string {
  const flat = /^( *)[\w.-]+:[ \t]*\n\1- /m.test(text);
  const body = document.toString({ lineWidth: 0, indentSeq: !flat, flowCollectionPadding: true });
  return isFirst || body.startsWith('---') || body.startsWith('%') ? body : `---\n${body}`;
}
