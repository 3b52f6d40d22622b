import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { parse } from 'yaml';
import { METRICS } from '../../src/observe/metric-table.ts';
import { required } from '../support/programs.ts';
import { type Prometheus, startPrometheus } from '../support/prometheus.ts';

const root = path.resolve(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');
const HOW = "Debian's prometheus, which has promtool";

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}
const { groups } = parse(read('deploy/monitoring/alerts.yaml')) as { groups: readonly { rules: readonly Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);

interface Played {
  readonly alert_rule_test: readonly { readonly alertname: string; readonly exp_alerts: readonly unknown[] }[];
}
const { tests } = parse(read('deploy/monitoring/alerts.test.yaml')) as { tests: readonly Played[] };

interface Panel {
  readonly type: string;
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}
const dashboard = JSON.parse(read('deploy/monitoring/dashboard.json')) as { panels: readonly Panel[] };
const queries = dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));

/** The metrics that a query names; the parts of a histogram are its own. */
const metricsIn = (expr: string): readonly string[] =>
  [...expr.matchAll(/\bcardea_\w+/g)].map(([name]) => name.replace(/_(bucket|sum|count)$/, ''));

describe('the alerts', () => {
  test('are what Prometheus reads, and each fires and stays quiet as it should', (t) => {
    if (!required(t, 'promtool', ['--version'], HOW)) return;
    for (const args of [
      ['check', 'rules', 'alerts.yaml'],
      ['test', 'rules', 'alerts.test.yaml'],
    ]) {
      const ran = spawnSync('promtool', args, { cwd: path.join(root, 'deploy/monitoring'), encoding: 'utf8' });
      assert.equal(ran.status, 0, ran.stdout + ran.stderr);
    }
  });

  for (const { alert, expr, labels, annotations } of rules) {
    test(`${alert} is played firing and quiet, has its runbook, and names metrics that there are`, () => {
      const played = tests.flatMap((each) => each.alert_rule_test).filter(({ alertname }) => alertname === alert);
      assert.ok(
        played.some(({ exp_alerts }) => exp_alerts.length > 0),
        'firing',
      );
      assert.ok(
        played.some(({ exp_alerts }) => exp_alerts.length === 0),
        'quiet',
      );
      assert.match(labels['severity'] ?? '', /^(critical|warning)$/);
      assert.equal(annotations['runbook'], `docs/runbooks.md#${alert.toLowerCase()}`);
      assert.ok(read('docs/runbooks.md').includes(`\n## ${alert}\n`));
      for (const name of metricsIn(expr)) assert.ok(Object.hasOwn(METRICS, name), name);
    });
  }

  test('have no runbook too many', () => {
    const headings = [...read('docs/runbooks.md').matchAll(/^## (\w+)$/gm)].map(([, name]) => String(name));
    assert.deepEqual(headings.toSorted(), rules.map(({ alert }) => alert).toSorted());
  });
});

describe('the dashboard', () => {
  test('names no metric that there is not', () => {
    for (const { title, expr } of queries) {
      for (const name of metricsIn(expr)) assert.ok(Object.hasOwn(METRICS, name), `${title}: ${name}`);
    }
  });

  test('has data for every query, from the demo, by a real Prometheus', { timeout: 180_000 }, async (t) => {
    if (!required(t, 'prometheus', ['--version'], HOW)) return;
    const demo = spawn(process.execPath, ['demo/demo.ts'], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
    let prometheus: Prometheus | undefined;
    try {
      const { base, ops } = await addressesOf(demo);
      prometheus = await startPrometheus(ops);
      // The demo has no registry; test/scenarios/registry.test.ts sees its metrics.
      for (const { title, expr } of queries.filter((each) => !each.expr.includes('cardea_registry_'))) {
        const query = expr.replaceAll('$__rate_interval', '15s').replaceAll(/\$(agent|instance)/g, '.*');
        // A rate needs two scrapes between which something happened.
        while ((await prometheus.count(query)) === 0) {
          await fetch(`${base}/agents/planner/.well-known/agent-card.json`);
          await pause(250, undefined, { signal: t.signal }).catch(() => assert.fail(`no data: ${title}: ${query}`));
        }
      }
    } finally {
      await prometheus?.stop();
      demo.kill('SIGTERM');
      await once(demo, 'exit');
    }
  });
});

/** Reads where the demo's Cardea is out of its story. */
async function addressesOf(demo: ChildProcess): Promise<{ readonly base: string; readonly ops: string }> {
  let base = '';
  if (demo.stdout === null) throw new Error('no output');
  const lines = createInterface({ input: demo.stdout });
  for await (const line of lines) {
    base = /Cardea listens at (\S+)/.exec(line)?.[1] ?? base;
    const ops = /curl -s http:\/\/(\S+)\/metrics/.exec(line)?.[1];
    if (ops !== undefined) {
      lines.removeAllListeners();
      demo.stdout.resume();
      return { base, ops };
    }
  }
  throw new Error('the demo ended');
}
