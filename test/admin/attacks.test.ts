import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

/** Every case of the table of attacks on administration: which test holds it, or why it does not apply. */

const root = path.resolve(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

interface Case {
  readonly id: string;
  readonly title: string;
}

/** The file, and words of the test in it. */
type Held = readonly [file: string, words: string];

const API = 'test/admin/api.test.ts';
const SOCKET = 'test/admin/on-a-socket.test.ts';
const KILL = 'test/scenarios/kill.test.ts';
const APART = 'test/scenarios/apart.test.ts';
const KILLS = 'test/store/kills.test.ts';

const HELD: Readonly<Record<string, Held>> = {
  'ADM-KILL-1': [KILL, 'refuses every path of the agents listener'],
  'ADM-KILL-3': [KILL, 'scopes add up: lifting one leaves the other'],
  'ADM-KILL-5': [APART, 'no path of the agents listener lifts'],
  'ADM-KILL-7': ['test/egress/connect.test.ts', 'a listener of our own on'],
  'ADM-KILL-9': [KILLS, 'a record that cannot be believed stops everything'],
  'ADM-KILL-13': [KILLS, 'what cannot be written holds all the same'],
  'ADM-KILL-15': [KILL, 'kept connections and open HTTP/2 sessions'],
  'ADM-KILL-19': [API, 'changes nothing'],
  'ADM-AUTHZ-1': [API, 'without a token is 401'],
  'ADM-AUTHZ-5': [API, 'a path has one spelling'],
  'ADM-AUTHZ-7': [API, 'a name twice'],
  'ADM-AUTHZ-9': [API, 'a scope that is an object'],
  'ADM-AUTHZ-11': ['test/store/admin-token.test.ts', 'changeme'],
  'ADM-AUTHZ-13': [API, '1,000 wrong ones are slowed down'],
  'ADM-AUTHZ-15': [API, 'leave their receipt before they take effect'],
  'ADM-AUTHZ-17': ['test/config/refusals.test.ts', 'is taken by listen.agents'],
  'ADM-AUTHZ-21': [API, 'come at a pace'],
  'ADM-AUTHZ-23': ['test/config/document.test.ts', 'a billion laughs'],
  'ADM-WEB-2': [API, 'text/plain, as a form sends it'],
  'ADM-WEB-4': [SOCKET, 'rebind.evil.test'],
  'ADM-WEB-6': [API, 'no page of another site speaks here'],
  'ADM-WEB-8': [SOCKET, "'0.0.0.0'"],
  'ADM-WEB-10': [SOCKET, 'knows no other protocol to switch to'],
  'ADM-WEB-12': [SOCKET, 'takes none for authority'],
  'ADM-WEB-14': [API, 'x-http-method-override'],
  'ADM-METRICS-1': [APART, 'metrics are at the ops listener alone'],
  'ADM-METRICS-5': ['test/observe/daemon.test.ts', 'do not grow with what callers make up'],
  'ADM-METRICS-7': ['test/observe/metrics.test.ts', 'the version ${JSON.stringify(version)} becomes'],
  'ADM-LOG-1': ['test/observe/daemon.test.ts', 'shows no secret of callers or origins'],
  'ADM-LOG-3': ['test/observe/log.test.ts', 'a secret reaches no line'],
  'ADM-LOG-5': ['test/observe/safe-text.test.ts', 'moves a terminal'],
  'ADM-LOG-7': ['test/observe/safe-text.test.ts', 'the longest whole, one more cut'],
  'ADM-LOG-9': ['test/config/network-types.test.ts', 'http://u:hunter2@proxy.example'],
  'ADM-LOG-11': ['test/store/ledger.test.ts', 'are hashes, whoever writes the receipt'],
  'ADM-PROC-1': ['test/node-options.test.ts', 'options of Node that would weaken the parser'],
  'ADM-PROC-3': ['test/architecture.test.ts', 'await fetch(target)'],
  'ADM-PROC-5': ['test/listen/reply.test.ts', '__proto__'],
};

const OTHERWISE: Readonly<Record<string, string>> = {
  'ADM-KILL-11': 'A lift needs authority and a reason; there is one administrative role, so no second approver to ask.',
  'ADM-KILL-17': 'No stop has an end time: it ends when a person lifts it, whatever a clock says.',
  'ADM-KILL-21':
    'startDaemon reads kills.json and looks for the kill file before the first listener opens; the order stands in one function.',
  'ADM-AUTHZ-3': 'There are no administrators of one tenant: the token and the socket are authority over everything.',
  'ADM-AUTHZ-19':
    'No debug endpoint exists (ADM-AUTHZ-1 goes through every route); GET /config asks for the token and shows secrets as references; an inspector that somebody asks for is an error line at start (test/node-options.test.ts).',
  'ADM-METRICS-3': 'No metric has a label for tenants or principals: the table of labels is closed.',
  'ADM-METRICS-9':
    'The ops listener asks for no token, by design: it is on loopback, in a Pod on its address, and says a version and a digest.',
  'ADM-METRICS-11':
    'Not cached: a scrape reads memory alone, and the listener bounds connections, time and slow readers.',
  'ADM-METRICS-13':
    'The request counter counts each refusal once, by result; codes are in receipts and lines, which each refusal leaves.',
  'ADM-LOG-13': 'Refusals leave one receipt a minute with a count, so that a caller in a loop fills no disk.',
};

const cases = JSON.parse(read('test/fixtures/attacks/admin.json')) as readonly Case[];

describe('attacks on administration', () => {
  test('all are accounted for, once', () => {
    const told = [...Object.keys(HELD), ...Object.keys(OTHERWISE)];
    assert.deepEqual(told.toSorted(), cases.map(({ id }) => id).toSorted());
  });
  for (const { id, title } of cases) {
    const held = HELD[id];
    const why = OTHERWISE[id];
    if (held === undefined) test(`${id} ${title}: ${why}`, () => assert.ok(why));
    else {
      test(`${id} ${title}: ${held[0]}`, () => {
        assert.ok(existsSync(path.join(root, held[0])), held[0]);
        assert.ok(read(held[0]).includes(held[1]), held[1]);
      });
    }
  }
});
