import { namedSettings } from '../../src/config/overrides.ts';
import { memberPath } from '../../src/config/place.ts';
import { SCHEMA } from '../../src/config/schema.ts';
import type { Fallback, Node, Row } from '../../src/config/table.ts';

const INTRODUCTION = `# Configuration

Generated from \`src/config/schema.ts\` by \`node scripts/generate.ts\`.

Cardea reads one YAML file: \`--config FILE\`, else \`cardea.yaml\` in the working directory, else \`/etc/cardea/cardea.yaml\`.
\`cardea check\` says everything that is wrong with it at once, with line and column; nothing starts on a file that has a problem.
\`cardea config\` prints what is in force and where each setting came from. \`config.schema.json\` is for editors.

- **Durations** are one whole number and a unit: \`250ms\`, \`30s\`, \`5m\`, \`1h\`, \`7d\`. **Sizes** are \`512B\`, \`64KiB\`, \`10MiB\`, \`1GiB\`.
- **Addresses** to listen on are \`127.0.0.1:8642\`, \`"[::1]:8642"\` or \`unix:/run/cardea/agents.sock\`; port 0 picks a free one, which the
  start line names. \`docs/listeners.md\` tells who may use them.
- **Relative paths** are relative to the folder of the file; in flags and variables, to the working directory.
- **Secrets** are never written, only referred to: \`file:/path\`, or \`env:NAME\` where the type below says so.
- **Flags and variables.** A setting that has them below has one name in three places: \`cache.maxStale\`, \`--cache-max-stale\`,
  \`CARDEA_CACHE_MAX_STALE\`. A flag goes before the environment, the environment before the file. An empty variable counts as none. A
  \`CARDEA_\` variable that names no setting is a warning; \`CARDEA_PORT*\` and \`CARDEA_SERVICE_*\`, which Kubernetes sets, are ignored.
- **URLs and origins** are written as they are used: lower-case host, A-labels (\`xn--…\`) for international names, no user name, no
  fragment, no trailing dot, no \`..\`. Another spelling is refused with the right one.
- **YAML** 1.2: keys once, anchors and aliases within bounds, no merge keys (\`<<\`), no tags of your own, one document.
`;

/** Makes the reference of every setting. */
export function configurationPage(): string {
  const top = Object.entries(SCHEMA.rows).map(([key, row]) => chapter(key, row));
  return `${INTRODUCTION}\n${top.join('\n')}`;
}

function chapter(key: string, row: Row): string {
  const rows = [...settings(key, row)].map(line);
  const heading = `## \`${key}\`\n\n${row.doc}\n`;
  return `${heading}\n| setting | type | default | what it does |\n|---|---|---|---|\n${rows.join('\n')}\n`;
}

interface Documented {
  readonly path: string;
  readonly row: Row;
  readonly type: string;
}

/** Walks to every setting that takes a value of its own. */
function* settings(path: string, row: Row): Generator<Documented> {
  const { node } = row;
  switch (node.kind) {
    case 'scalar':
      yield { path, row, type: typeOf(node) };
      return;
    case 'list':
      if (node.item.kind === 'scalar')
        yield { path, row, type: `${node.word === null ? '' : `${node.word}, or `}list of ${typeOf(node.item)}` };
      else yield* settings(`${path}[]`, { ...row, node: node.item });
      return;
    case 'named':
      yield* settings(`${path}.NAME`, { ...row, node: node.value });
      return;
    case 'choice':
      yield { path, row, type: `${typeOf(node.word)}, or a section` };
      yield* settings(path, { ...row, node: node.section });
      return;
    case 'section':
      for (const [key, member] of Object.entries(node.rows)) yield* settings(memberPath(path, key), member);
      return;
    case 'short':
      for (const [key, member] of Object.entries(node.section.rows)) {
        if (key === node.main) yield { path, row, type: typeOf(member.node) };
        else yield* settings(memberPath(path, key), member);
      }
  }
}

const typeOf = (node: Node): string =>
  node.kind === 'scalar' ? `${node.name}${node.range === '' ? '' : `: ${node.range}`}` : node.kind;

const NAMES = new Map(namedSettings(SCHEMA).map((setting) => [setting.path, setting]));

function line({ path, row, type }: Documented): string {
  const named = NAMES.get(path);
  const also = named === undefined ? '' : `<br>\`${named.flag}\`<br>\`${named.variable}\``;
  return `| \`${path}\`${also} | ${cell(type)} | ${defaultOf(row)} | ${cell(row.doc)} |`;
}

function defaultOf({ fallback, required, node }: Row): string {
  if (required) return 'required';
  if (fallback === null) return node.kind === 'list' ? `\`${node.word ?? '[]'}\`` : 'none';
  return spell(fallback);
}

const spell = (fallback: Fallback): string =>
  typeof fallback === 'string' ? `\`${fallback}\`` : `\`${fallback.usual}\`, in Kubernetes \`${fallback.kubernetes}\``;

const cell = (text: string): string => text.replaceAll('|', '\\|');
