import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  CLASSES,
  CUES,
  approvingMeans,
  byClass,
  forWhom,
  pinLine,
  rejectingMeans,
  undecidable,
} from '../../console/change-words.js';
import { KINDS, knownNames, partsOf, scopeOf } from '../../console/scopes.js';
import { CHANGE_CLASSES, CUES as CUES_OF_THE_DAEMON } from '../../src/kernel/change.ts';
import { cardDigest, urlId } from '../../src/kernel/ids.ts';
import { KILL_KINDS, parseScope } from '../../src/kernel/kill.ts';
import { epochMs } from '../../src/kernel/units.ts';
import { agent } from './agents.ts';

const PENDING = {
  variant: 'any',
  digest: cardDigest('aa'),
  url: urlId('https://w.example/card.json'),
  why: 'held',
  at: epochMs(1),
  since: epochMs(1),
  until: epochMs(2),
  inForce: cardDigest('bb'),
  changes: [],
  card: {},
  verdict: { signature: 'unsigned' },
  refusal: null,
} as const;

describe('what deciding means', () => {
  const told = (pending: Partial<typeof PENDING> | object, suspended: string | null = null): string =>
    approvingMeans({ ...PENDING, ...pending }, { agent: 'weather', suspended }).join('\n');

  test('approving puts the card in place of the one in force, for exactly this content', () => {
    assert.match(told({}), /Every caller of weather gets this card from now on, in place of the one in force/);
    assert.match(told({}), /exactly this content, from https:\/\/w\.example\/card\.json/);
    assert.doesNotMatch(told({}), /suspended/);
  });
  test('of one version of A2A, only its callers', () => assert.match(told({ variant: '0.3' }), /speak A2A 0\.3/));
  test('where nothing is in force it says so', () => assert.match(told({ inForce: null }), /until now there is none/));
  test('what is suspended goes on', () => assert.match(told({}, 'suspended'), /suspended meanwhile, go on/));
  test('rejecting keeps what is in force, or leaves nothing', () => {
    assert.match(rejectingMeans(PENDING)[0] ?? '', /in force stays/);
    assert.match(rejectingMeans({ ...PENDING, inForce: null })[0] ?? '', /Nothing is served/);
  });

  const cases = [
    ['held', 'allow', undefined],
    ['first-use', 'hold', undefined],
    ['first-use', 'pinned', /pins file/],
    ['blocked', 'allow', /blocks a change/],
  ] as const;
  for (const [why, firstUse, said] of cases)
    test(`${why}, first use ${firstUse}: ${said === undefined ? 'a person decides' : 'nobody here decides'}`, () => {
      const found = undecidable({ ...PENDING, why }, { agent: 'weather', firstUse });
      if (said === undefined) assert.equal(found, undefined);
      else assert.match(found ?? '', said);
    });

  test('an extended card is its callers’ alone', () => {
    assert.equal(forWhom('extended'), ', an extended card');
    assert.match(told({ variant: 'extended' }), /to whom weather gives this extended card/);
    assert.match(told({ variant: 'extended', inForce: null }, 'suspended'), /public card.* stay as they are/);
    assert.doesNotMatch(told({ variant: 'extended' }, 'suspended'), /speak A2A|suspended/);
    assert.match(
      rejectingMeans({ ...PENDING, variant: 'extended', inForce: null })[0] ?? '',
      /one before it keeps that/,
    );
  });

  test('a line of a pins file', () => {
    assert.equal(pinLine('weather', 'sha256:aa'), 'weather: ["sha256:aa"]');
    assert.equal(pinLine('https://a.example/c?x#y', 'sha256:aa'), '"https://a.example/c?x#y": ["sha256:aa"]');
  });
});

describe('changes by class', () => {
  const change = (name: string) =>
    ({ class: name, action: 'hold', pointer: '/x', oldPointer: '/x', effect: null, cues: [] }) as const;

  test('security first, what is unknown here last', () => {
    const found = byClass([change('new-class'), change('cosmetic'), change('security'), change('cosmetic')]);
    assert.deepEqual(
      found.map(([name, changes]) => [name, changes.length]),
      [
        ['security', 1],
        ['cosmetic', 2],
        ['new-class', 1],
      ],
    );
  });
  test('every class and every cue of the daemon has words', () => {
    assert.deepEqual([...CLASSES.keys()].toSorted(), [...CHANGE_CLASSES].toSorted());
    assert.deepEqual(Object.keys(CUES).toSorted(), [...CUES_OF_THE_DAEMON].toSorted());
  });
});

describe('scopes of a stop', () => {
  const cases = [
    ['agent', ' weather ', 'agent:weather'],
    ['origin', 'Agents.Example:8443', 'origin:agents.example:8443'],
    ['principal', 'https://idp.example#Anna', 'principal:https://idp.example#Anna'],
    ['all', 'whatever', 'all'],
    ['kid', '  ', ''],
  ] as const;
  for (const [kind, name, scope] of cases)
    test(`${kind} ${name}`, () => {
      assert.equal(scopeOf(kind, name), scope);
      if (scope !== '') assert.equal(parseScope(scope), scope);
    });

  test('are taken apart', () => {
    assert.deepEqual(partsOf('all'), { kind: 'all', name: '' });
    assert.deepEqual(partsOf('principal:a:b#c'), { kind: 'principal', name: 'a:b#c' });
    assert.deepEqual(partsOf(''), { kind: 'agent', name: '' });
    assert.deepEqual(partsOf('nothing:x'), { kind: 'agent', name: '' });
  });
  test('are of every kind that the daemon has', () => {
    assert.deepEqual(KINDS.map(({ kind }) => kind).toSorted(), [...KILL_KINDS].toSorted());
  });
  test('agents give names to them', () => {
    const agents = ['weather', 'planner'].map((name) => agent(name, { state: 'fresh', freshUntil: 2, lastSuccess: 1 }));
    assert.deepEqual(knownNames(agents, 'agent'), ['planner', 'weather']);
    assert.deepEqual(knownNames(agents, 'origin'), ['planner.example', 'weather.example']);
    assert.deepEqual(knownNames(agents, 'all'), []);
  });
});
