import { Document, Pair, Scalar, YAMLMap, YAMLSeq } from 'yaml';
import { show, type Shown, sourceOf, type Sources } from './effective.ts';
import { SCHEMA, type Settings } from './schema.ts';

/** Writes the effective settings as a configuration file that says the same, each with where it came from. */
export function effectiveYaml(settings: Settings, sources: Sources): string {
  const document = new Document();
  document.contents = yamlNode(show(SCHEMA, settings, ''), sources);
  return document.toString({ lineWidth: 0, flowCollectionPadding: false });
}

function yamlNode(shown: Shown, sources: Sources): Scalar | YAMLSeq | YAMLMap {
  switch (shown.kind) {
    case 'value': {
      const scalar = new Scalar(shown.value);
      scalar.comment = ` ${sourceOf(shown.path, sources)}`;
      return scalar;
    }
    case 'list':
      return yamlList(shown.items, shown.path, sources);
    case 'members': {
      const map = new YAMLMap();
      map.items = shown.members.map(([key, member]) => new Pair(new Scalar(key), yamlNode(member, sources)));
      if (map.items.length === 0) map.comment = ` ${sourceOf(shown.path, sources)}`;
      return map;
    }
  }
}

/** A list of words stands on one line, a list of sections below one another. */
function yamlList(items: readonly Shown[], path: string, sources: Sources): YAMLSeq {
  const list = new YAMLSeq();
  list.flow = items.every((item) => item.kind === 'value');
  list.items = items.map((item) => (item.kind === 'value' ? new Scalar(item.value) : yamlNode(item, sources)));
  if (list.flow) list.comment = ` ${sourceOf(path, sources)}`;
  return list;
}
