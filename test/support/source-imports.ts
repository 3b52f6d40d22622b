/** One import of a source file: what it names, and whether only types cross. */
export interface SourceImport {
  readonly from: string;
  readonly kind: 'type' | 'value';
  /** What stands between `import` and `from`. */
  readonly names: string;
}

const STATIC = /^[ \t]*(?:import|export)\s+(?<type>type\s)?(?<names>[\w\s{},*$]*?)\s*from\s*['"](?<from>[^'"]+)['"]/gm;
const BARE = /^[ \t]*import\s*['"](?<from>[^'"]+)['"]/gm;
const DYNAMIC = /\bimport\(\s*['"](?<from>[^'"]+)['"]/g;

/** Lists every import of a source: static, re-exported, for side effects, dynamic, and `import('x').Type`. */
export function importsOf(source: string): readonly SourceImport[] {
  const code = withoutComments(source);
  return [STATIC, BARE, DYNAMIC].flatMap((pattern) =>
    [...code.matchAll(pattern)].map(({ groups = {} }) => ({
      from: groups['from'] ?? '',
      kind: groups['type'] === undefined ? 'value' : 'type',
      names: groups['names'] ?? '',
    })),
  );
}

/** Takes comments away. `//` inside a URL stands after a colon, so it stays. */
export function withoutComments(source: string): string {
  return source.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(^|\s)\/\/.*$/gm, '$1');
}
