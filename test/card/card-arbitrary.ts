import fc from 'fast-check';
import type { Json, JsonObject } from '../../src/card/json.ts';
import { objectOf } from '../../src/card/json.ts';
import { CARD_1_0, SCHEME_1_0 } from '../../src/card/schema/a2a-1.0.ts';
import type { Kind, Message } from '../../src/card/schema/table.ts';

/** Few words, so that two cards have much in common, and names that would break a careless reader. */
const word = fc.constantFrom(
  '',
  'a',
  'b',
  'forecast',
  'f0recast',
  'https://a.example/x',
  'a/b~c',
  '__proto__',
  '-',
  '0',
);
const anyJson: fc.Arbitrary<Json> = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<Json>(null, true, false, 0, 1.5, '', 'a', 'b'),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(word, tie('json'), { maxKeys: 3 }).map((object) => objectOf(Object.entries(object))),
  ),
})).json;
const anyObject = fc.dictionary(word, anyJson, { maxKeys: 3 }).map((object) => objectOf(Object.entries(object)));

/** Cards in the 1.0 view: what the table says that they are, now and then what it does not, and members of nobody's. */
export const anyCard: fc.Arbitrary<JsonObject> = message(CARD_1_0);

function message(of: Message): fc.Arbitrary<JsonObject> {
  const members = of.members.map(({ name, kind }) =>
    fc
      .option(fc.oneof({ weight: 12, arbitrary: value(kind) }, { weight: 1, arbitrary: anyJson }), { nil: undefined })
      .map((one): [string, Json | undefined] => [name, one]),
  );
  const unknown = fc.option(fc.tuple(fc.constantFrom('x-one', 'x-two', 'authentication', '__proto__'), anyJson), {
    nil: undefined,
    freq: 4,
  });
  return fc
    .tuple(fc.tuple(...members), unknown)
    .map(([known, extra]) => objectOf(extra === undefined ? known : [...known, extra]));
}

function value(kind: Kind): fc.Arbitrary<Json> {
  switch (kind.is) {
    case 'string':
      return word;
    case 'boolean':
      return fc.boolean();
    case 'strings':
      return fc.array(word, { maxLength: 3 });
    case 'struct':
      return anyObject;
    case 'texts':
      return fc.dictionary(word, word, { maxKeys: 3 }).map((object) => objectOf(Object.entries(object)));
    case 'message':
      return message(kind.of);
    case 'list':
      return fc.array(message(kind.of), { maxLength: 3 });
    case 'schemes':
      return fc.dictionary(word, message(SCHEME_1_0), { maxKeys: 2 }).map((object) => objectOf(Object.entries(object)));
    case 'requirements':
      return fc.array(
        fc
          .dictionary(word, fc.array(word, { maxLength: 2 }), { maxKeys: 2 })
          .map((schemes) =>
            objectOf([
              ['schemes', objectOf(Object.entries(schemes).map(([name, list]) => [name, objectOf([['list', list]])]))],
            ]),
          ),
        { maxLength: 2 },
      );
  }
}
