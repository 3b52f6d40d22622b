import { SCHEMA } from '../../src/config/schema.ts';
import type { ListType, Node, Row, SectionType, ShortType } from '../../src/config/table.ts';
import type { JsonSchema } from '../../src/config/types/scalar.ts';

/** Makes the JSON Schema (2020-12) that editors complete and check a configuration with. */
export function configurationSchema(): string {
  const head = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Cardea configuration',
    description: 'Generated from src/config/schema.ts. "cardea check" says more than a schema can.',
  };
  return `${JSON.stringify({ ...head, ...sectionSchema(SCHEMA) }, null, 2)}\n`;
}

function nodeSchema(node: Node): JsonSchema {
  switch (node.kind) {
    case 'scalar':
      return node.schema;
    case 'list':
      return listSchema(node);
    case 'named':
      return { type: ['object', 'null'], propertyNames: node.key.schema, additionalProperties: nodeSchema(node.value) };
    case 'section':
      return sectionSchema(node);
    case 'short':
      return { anyOf: [nodeSchema(mainOf(node).node), sectionSchema(node.section)] };
    case 'choice':
      return { oneOf: [node.word.schema, nodeSchema(node.section)] };
  }
}

function mainOf({ main, section }: ShortType): Row {
  const row = section.rows[main];
  if (row === undefined) throw new Error(`a section has no ${main}`);
  return row;
}

function listSchema({ item, word }: ListType): JsonSchema {
  const items = { type: ['array', 'null'], items: nodeSchema(item) };
  return word === null ? items : { anyOf: [{ const: word }, items], default: word };
}

function sectionSchema({ rows }: SectionType): JsonSchema {
  const properties = Object.entries(rows).map(([key, row]) => [key, rowSchema(row)]);
  const required = Object.entries(rows).flatMap(([key, row]) => (row.required ? [key] : []));
  return {
    // A section whose every line is commented out is null.
    type: required.length === 0 ? ['object', 'null'] : 'object',
    properties: Object.fromEntries(properties),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}

function rowSchema({ node, fallback, doc }: Row): JsonSchema {
  const text = fallback === null || typeof fallback === 'string' ? fallback : fallback.usual;
  return { description: doc, ...nodeSchema(node), ...(text === null ? {} : { default: defaultOf(node, text) }) };
}

/** Numbers and booleans stand without quotes, as in the file. */
const defaultOf = (node: Node, text: string): unknown =>
  node.kind === 'scalar' && (node.bare || (node.nothing !== undefined && text === 'null'))
    ? (JSON.parse(text) as unknown)
    : text;
