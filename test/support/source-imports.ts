/** One import of a source file: what it names, and whether only types cross. */
export interface SourceImport {
  readonly from: string;
  readonly kind: 'type' | 'value';
  /** `asked`: a module of Node, by `process.getBuiltinModule`. */
  readonly how: 'import' | 'asked';
  /** What stands between `import` and `from`. */
  readonly names: string;
}

const STATIC = /^[ \t]*(?:import|export)\s+(?<type>type\s)?(?<names>[\w\s{},*$]*?)\s*from\s*['"](?<from>[^'"]+)['"]/gm;
const BARE = /^[ \t]*import\s*['"](?<from>[^'"]+)['"]/gm;
const DYNAMIC = /\bimport\(\s*['"](?<from>[^'"]+)['"]/g;

const ASKED = /\bconst\s+(?<names>[^=;]*?)\s*=\s*process\s*\.\s*getBuiltinModule\(\s*['"](?<from>[^'"]+)['"]/g;

/** Lists every import of a source: static, re-exported, for side effects, dynamic, `import('x').Type`, and modules of Node asked for by name. */
export function importsOf(source: string): readonly SourceImport[] {
  const code = withoutComments(source);
  return [STATIC, BARE, DYNAMIC, ASKED].flatMap((pattern) =>
    [...code.matchAll(pattern)].map(({ groups = {} }) => ({
      from: groups['from'] ?? '',
      how: pattern === ASKED ? 'asked' : 'import',
      kind: groups['type'] === undefined ? 'value' : 'type',
      names: groups['names'] ?? '',
    })),
  );
}

/** Takes comments away. `//` inside a URL stands after a colon, so it stays. */
export function withoutComments(source: string): string {
  return source.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(^|\s)\/\/.*$/gm, '$1');
}
