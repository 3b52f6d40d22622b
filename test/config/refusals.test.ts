import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formatProblem } from '../../src/config/place.ts';
import { loadText, problemsOf } from '../support/config.ts';

const EVERYTHING = `listen: { agents: 127.0.0.1:9000, ops: 127.0.0.1:9000, nmaes: [] }
agents:
  weather:
    orign: https://weather.example.com
    max_stale: 30
  Planner_x:
    card: http://user:hunter2@x.example/c
    tls: { key: hunter2 }
  ops: { origin: http://a.example, listen: 127.0.0.1:1, unsafeAddresses: [10.0.0.5/8, 1] }
  ops: {}
origins:
  - { match: https://x.*.example, content: card }
  - 5
cache: { minTtl: 1h30m, maxBytes: 10MB, prefetch: yes }
limits: { redirects: "3" }
maxStale: 3
log: [info]
`;

test('says every problem at once, each with its place and the right spelling', async () => {
  const problems = await problemsOf(EVERYTHING, { flags: ['--cache-max-stle=5'], env: { CARDEA_LIMITS_CONNECT: '1' } });
  assert.deepEqual(problems, [
    '--cache-max-stle: no such setting; did you mean --cache-max-stale?',
    'CARDEA_LIMITS_CONNECT: "1" is no duration; write 1s',
    'c.yaml:1:40 listen.ops: 127.0.0.1:9000 is taken by listen.agents; write another port, or 0 for a free one',
    'c.yaml:1:56 listen.nmaes: unknown key; did you mean names?',
    'c.yaml:3:3 agents.weather: has no card; write origin: https://HOST, or card: with the whole URL, or registry: and id: of an entry in a registry',
    'c.yaml:4:5 agents.weather.orign: unknown key; did you mean origin?',
    'c.yaml:5:5 agents.weather.max_stale: unknown key; did you mean maxStale?',
    'c.yaml:6:3 agents.Planner_x: "Planner_x" is no agent name, which is 1 to 63 of a to z, 0 to 9 and "-"; write planner-x',
    'c.yaml:7:11 agents.Planner_x.card: a URL holds no user name and no password; write http://x.example/c',
    'c.yaml:8:17 agents.Planner_x.tls.key: a secret is never written here; write file:/path',
    'c.yaml:9:18 agents.ops.origin: is http://, which anyone on the way can change; write https://, or unsafeCleartext: true beside it',
    'c.yaml:9:44 agents.ops.listen: the daemon has a listener called ops itself; give the agent another name',
    'c.yaml:9:75 agents.ops.unsafeAddresses[0]: 10.0.0.5/8 has bits beyond its prefix; write 10.0.0.5/32 for the one address or 10.0.0.0/8 for the block',
    'c.yaml:9:87 agents.ops.unsafeAddresses[1]: "1" is no address block; write one like 10.0.0.0/8 or 127.0.0.1/32',
    'c.yaml:10:3 agents.ops: is written twice; the first stands at c.yaml:9:3',
    'c.yaml:12:14 origins[0].match: "https://x.*.example": a wildcard stands for the whole left label alone: https://*.agents.example.com',
    'c.yaml:13:5 origins[1]: this holds settings: match, content, signature, signatures, keys, jku, uncovered, versions, schema, interfaces, extensions, visibleTo, review, listen, maxStale, cache, tls, proxy, unsafeCleartext, unsafeAddresses',
    'c.yaml:14:18 cache.minTtl: "1h30m" is no duration; write 90m',
    'c.yaml:14:35 cache.maxBytes: "10MB" is no size; write 10MiB',
    'c.yaml:14:51 cache.prefetch: "yes" is neither true nor false; write true',
    'c.yaml:15:22 limits.redirects: is written without quotes: 3',
    'c.yaml:16:1 maxStale: unknown key here; it belongs at cache.maxStale',
    'c.yaml:17:6 log: this holds settings: level, hits',
  ]);
});

const CATALOG = 'registries: [{ name: catalog, kind: ai-catalog, url: "https://r.example/c.json" }]';

const CASES: readonly (readonly [name: string, text: string, problems: readonly string[]])[] = [
  [
    'a scalar where a section is',
    'cache: 5m',
    [
      'c.yaml:1:8 cache: this holds settings: defaultTtl, minTtl, maxTtl, staleWhileRevalidate, staleIfError, maxStale, negativeTtl, clientMaxAge, keysMaxStale, maxBytes, prefetch, prefetchTimeout',
    ],
  ],
  [
    'a list at the root',
    '[1]',
    [
      'c.yaml:1:1: the file holds settings: listen, state, agents, origins, keys, principals, registries, cache, limits, egress, admin, receipts, kill, log',
    ],
  ],
  [
    'a word at the root',
    'hello',
    [
      'c.yaml:1:1: the file holds settings: listen, state, agents, origins, keys, principals, registries, cache, limits, egress, admin, receipts, kill, log',
    ],
  ],
  ['one value where a list is', 'listen: { names: a.b }', ['c.yaml:1:18 listen.names: is a list; write [a.b]']],
  ['a section where a list is', 'origins: { match: x }', ['c.yaml:1:10 origins: is a list']],
  ['a list where one value is', 'state: [a]', ['c.yaml:1:8 state: is one value (folder or "memory"), not several']],
  ['a key without a value', 'state:\n', ['c.yaml:1:7 state: has no value; write one, or leave the key out']],
  [
    'null for a value',
    'cache: { maxTtl: ~ }',
    ['c.yaml:1:18 cache.maxTtl: has no value; write one, or leave the key out'],
  ],
  ['a boolean in quotes', 'log: { hits: "true" }', ['c.yaml:1:14 log.hits: is written without quotes: true']],
  [
    'a key that is nothing like another',
    'zzz: 1',
    [
      'c.yaml:1:1 zzz: unknown key; known here: listen, state, agents, origins, keys, principals, registries, cache, limits, egress, admin, receipts, kill, log',
    ],
  ],
  [
    'a key in kebab case',
    'cache: { default-ttl: 5m }',
    ['c.yaml:1:10 cache.default-ttl: unknown key; did you mean defaultTtl?'],
  ],
  [
    'a key of Object.prototype',
    'toString: 1',
    [
      'c.yaml:1:1 toString: unknown key; known here: listen, state, agents, origins, keys, principals, registries, cache, limits, egress, admin, receipts, kill, log',
    ],
  ],
  [
    '__proto__',
    '__proto__: { state: x }',
    [
      'c.yaml:1:1 __proto__: unknown key; known here: listen, state, agents, origins, keys, principals, registries, cache, limits, egress, admin, receipts, kill, log',
    ],
  ],
  ['a key that is no word', 'log: { "a b\\n": 1 }', ['c.yaml:1:8 log["a b\\n"]: unknown key; known here: level, hits']],
  [
    'neither origin nor card',
    'agents: { a: { maxStale: 1h } }',
    [
      'c.yaml:1:11 agents.a: has no card; write origin: https://HOST, or card: with the whole URL, or registry: and id: of an entry in a registry',
    ],
  ],
  [
    'an agent without anything',
    'agents:\n  a:\n',
    [
      'c.yaml:2:3 agents.a: has no card; write origin: https://HOST, or card: with the whole URL, or registry: and id: of an entry in a registry',
    ],
  ],
  [
    'origin and card',
    'agents: { a: { origin: https://a.example, card: https://a.example/c } }',
    ['c.yaml:1:49 agents.a.card: stands beside origin; write one of the two'],
  ],
  [
    'neither a list nor the word that may stand for one',
    'egress: { dns: 10.0.0.53 }',
    ['c.yaml:1:16 egress.dns: is system or a list; write [10.0.0.53]'],
  ],
  [
    'a key without a value where null has a meaning',
    'egress: { proxy: }',
    ['c.yaml:1:18 egress.proxy: has no value; write one, or leave the key out'],
  ],
  [
    'an agent that is no section',
    'agents: { a: https://a.example }',
    [
      'c.yaml:1:14 agents.a: this holds settings: origin, card, registry, id, risk, hosts, signature, signatures, keys, jku, uncovered, versions, schema, interfaces, extensions, visibleTo, review, listen, maxStale, cache, tls, proxy, unsafeCleartext, unsafeAddresses, credentials, extended, route',
    ],
  ],
  [
    'a card over cleartext',
    'agents: { a: { card: http://a.example/c } }',
    [
      'c.yaml:1:22 agents.a.card: is http://, which anyone on the way can change; write https://, or unsafeCleartext: true beside it',
    ],
  ],
  [
    'a rule over cleartext',
    'origins: [{ match: http://a.example, content: any, listen: 127.0.0.1:1 }]',
    [
      'c.yaml:1:20 origins[0].match: is http://, which anyone on the way can change; write https://, or unsafeCleartext: true beside it',
    ],
  ],
  [
    'a rule twice',
    'origins:\n- { match: https://a.example, content: any }\n- { match: "https://a.example:443/", content: any }',
    ['c.yaml:3:12 origins[1].match: is the same as origins[0].match; write one rule'],
  ],
  [
    'a rule without its origin',
    'origins: [{ content: any }]',
    [
      'c.yaml:1:11 origins[0].match: is missing. The origin, or by `https://*.HOST` every host exactly one label below HOST.',
    ],
  ],
  [
    'a floor above the ceiling',
    'cache: { minTtl: 2h, maxTtl: 1h }',
    ['c.yaml:1:18 cache.minTtl: is more than cache.maxTtl; write the floor below the ceiling'],
  ],
  [
    'a floor above the default ceiling',
    'cache: { minTtl: 25h }',
    ['c.yaml:1:18 cache.minTtl: is more than cache.maxTtl; write the floor below the ceiling'],
  ],
  [
    'a listener on a default one',
    'agents: { a: { origin: https://a.example, listen: 0.0.0.0:9464 } }',
    ['c.yaml:1:51 agents.a.listen: 0.0.0.0:9464 is taken by listen.ops; write another port, or 0 for a free one'],
  ],
  [
    'two own listeners',
    'agents:\n  a: { origin: https://a.example, listen: "[::]:1" }\norigins: [{ match: https://a.example, content: any, listen: 127.0.0.1:1 }]',
    ['c.yaml:3:61 origins[0].listen: 127.0.0.1:1 is taken by agents.a.listen; write another port, or 0 for a free one'],
  ],
  [
    'a certificate without its key',
    'agents: { a: { origin: https://a.example, tls: { cert: /c.pem } } }',
    ['c.yaml:1:56 agents.a.tls.cert: needs its private key; write key: file:/path beside it'],
  ],
  [
    'a key without its certificate',
    'agents: { a: { origin: https://a.example, tls: { key: file:/c.pem } } }',
    ['c.yaml:1:55 agents.a.tls.key: needs its certificate; write cert: beside it'],
  ],
  [
    'a file that is not there',
    'agents: { a: { origin: https://a.example, tls: { ca: ca.pem } } }',
    ['c.yaml:1:54 agents.a.tls.ca: /etc/app/ca.pem cannot be read: it is not there'],
  ],
  [
    'an agent with two places',
    `${CATALOG}\nagents: { a: { origin: https://a.example, registry: catalog, id: "urn:a" } }`,
    ['c.yaml:2:53 agents.a.registry: stands beside origin; write one of the two'],
  ],
  [
    'a registry without the entry in it',
    `${CATALOG}\nagents: { a: { registry: catalog } }`,
    ["c.yaml:2:26 agents.a.registry: needs the identifier of the agent's entry; write id: beside it"],
  ],
  [
    'an entry of no registry',
    'agents: { a: { origin: https://a.example, id: "urn:a" } }',
    ['c.yaml:1:47 agents.a.id: is for an entry of a registry; write registry: beside it'],
  ],
  [
    'a registry that is spelled otherwise',
    `${CATALOG}\nagents: { a: { registry: catalgo, id: "urn:a" } }`,
    ['c.yaml:2:26 agents.a.registry: "catalgo" is no registry of this file; did you mean catalog?'],
  ],
  [
    'a registry that is nowhere defined',
    'agents: { a: { registry: catalog, id: "urn:a" } }',
    ['c.yaml:1:26 agents.a.registry: "catalog" is no registry of this file; define it in registries'],
  ],
  [
    'how an agent is reached that its registry places',
    `${CATALOG}\nagents: { a: { registry: catalog, id: "urn:a", tls: { ca: /c.pem }, proxy: "http://p.example:3128", unsafeCleartext: true, unsafeAddresses: [10.0.0.0/8] } }`,
    [
      'c.yaml:2:48 agents.a.tls: stands beside registry; write it for the rule in origins that covers the place',
      'c.yaml:2:76 agents.a.proxy: stands beside registry; write it for the rule in origins that covers the place',
      'c.yaml:2:118 agents.a.unsafeCleartext: stands beside registry; write it for the rule in origins that covers the place',
      'c.yaml:2:124 agents.a.unsafeAddresses: stands beside registry; write it for the rule in origins that covers the place',
    ],
  ],
  [
    'credentials that would go wherever a registry says',
    `${CATALOG}\nagents: { a: { registry: catalog, id: "urn:a", credentials: { static: file:/c.pem } } }`,
    [
      'c.yaml:2:48 agents.a.credentials: stands beside registry: it would go along wherever the registry moves the agent; write origin or card for such an agent',
    ],
  ],
  [
    'stale cards of an agent that serves none',
    'agents: { a: { origin: https://a.example, risk: high, maxStale: 1s } }',
    ['c.yaml:1:65 agents.a.maxStale: stands beside risk: high, which serves nothing stale; leave it out'],
  ],
  [
    'a registry without a place',
    'registries: [{ name: catalog, kind: ai-catalog }]',
    ['c.yaml:1:14 registries[0]: is nowhere; write url: or file:'],
  ],
  [
    'a registry at two places',
    'registries: [{ name: catalog, kind: ai-catalog, url: "https://r.example/c.json", file: /c.json }]',
    ['c.yaml:1:88 registries[0].file: stands beside url; write one of the two'],
  ],
  [
    'a registry that anyone on the way can change',
    'registries: [{ name: catalog, kind: ai-catalog, url: "http://r.example/c.json" }]\norigins: [{ match: "http://r.example:81", content: none, unsafeCleartext: true }]',
    [
      'c.yaml:1:54 registries[0].url: is http://, where anyone on the way can take a revocation out; write https://, or a rule with content: none and unsafeCleartext: true for its origin',
    ],
  ],
  [
    'two registries of one name',
    'registries: [{ name: catalog, kind: ai-catalog, file: /a.json }, { name: catalog, kind: ai-catalog, file: /b.json }]',
    ['c.yaml:1:74 registries[1].name: is configured twice; give each a name of its own'],
  ],
];

describe('refuses', () => {
  for (const [name, text, problems] of CASES) {
    test(name, async () => assert.deepEqual(await problemsOf(text, { files: { '/c.pem': '' } }), problems));
  }
});

describe('accepts', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['an empty file', ''],
    ['comments alone', '# nothing yet\n'],
    ['sections whose lines are all commented out', 'agents:\norigins:\ncache:\nlisten:\n'],
    ['JSON', '{"agents":{"a":{"origin":"https://a.example"}}}'],
    ['port 0 for several listeners', 'listen: { agents: 127.0.0.1:0, ops: 127.0.0.1:0, admin: 127.0.0.1:0 }'],
    ['a floor at the ceiling', 'cache: { minTtl: 1h, maxTtl: 60m }'],
    ['cleartext where it is allowed', 'agents: { a: { origin: http://a.example, unsafeCleartext: true } }'],
    [
      'no stale cards of an agent that serves none',
      'agents: { a: { origin: https://a.example, risk: high, maxStale: 0s } }',
    ],
    [
      'a registry in cleartext where a rule means it',
      'registries: [{ name: catalog, kind: ai-catalog, url: "http://r.example/c.json" }]\norigins: [{ match: "http://r.example", content: none, unsafeCleartext: true }]',
    ],
    ['an agent called like a listener, without one of its own', 'agents: { ops: { origin: https://a.example } }'],
    [
      'a value that is used again',
      'agents:\n  a: { origin: https://a.example, unsafeAddresses: &lan [10.0.0.0/8] }\n  b: { origin: https://b.example, unsafeAddresses: *lan }',
    ],
    ['a byte order mark', '\uFEFFstate: x'],
    ['CRLF', 'cache:\r\n  maxTtl: 1h\r\n'],
  ];
  for (const [name, text] of cases) test(name, async () => assert.deepEqual(await problemsOf(text), []));
});

describe('warns of', () => {
  const cases: readonly (readonly [string, string, readonly string[]])[] = [
    [
      'an admin listener that others reach',
      'listen: { admin: 0.0.0.0:8643 }',
      [
        'c.yaml:1:18 listen.admin: the admin listener can be reached from other machines; 127.0.0.1 or ::1 keeps it here',
      ],
    ],
    [
      'every address',
      'agents: { a: { origin: https://a.example, unsafeAddresses: [10.0.0.0/8, "::/0"] } }',
      [
        'c.yaml:1:43 agents.a.unsafeAddresses: ::/0 lets this reach every address, cloud metadata included; write the blocks that are meant',
      ],
    ],
    ['nothing else', 'agents: { a: { origin: https://a.example } }', []],
  ];
  for (const [name, text, warnings] of cases) {
    test(name, async () => {
      const config = await loadText(text);
      assert.ok(config.ok);
      assert.deepEqual(
        config.warnings.map((each) => formatProblem(each).replace('/etc/app/', '')),
        warnings,
      );
    });
  }
});
