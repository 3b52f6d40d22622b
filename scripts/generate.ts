/**
 * Writes what is made from the tables: config.schema.json, docs/configuration.md, docs/problems.md, docs/metrics.md,
 * docs/measurements.md, and the Prometheus Operator's object of the alerts.
 * Usage: node scripts/generate.ts [--check]      --check writes nothing and says what is out of date
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { configurationPage } from './generate/configuration-page.ts';
import { configurationSchema } from './generate/configuration-schema.ts';
import { measurementsPage } from './generate/measurements-page.ts';
import { metricsPage } from './generate/metrics-page.ts';
import { prometheusRule } from './generate/prometheus-rule.ts';
import { problemsPage } from './generate/problems-page.ts';

const FILES = {
  'config.schema.json': configurationSchema,
  'docs/configuration.md': configurationPage,
  'docs/problems.md': problemsPage,
  'docs/metrics.md': metricsPage,
  'docs/measurements.md': measurementsPage,
  'deploy/kustomize/components/monitoring/prometheus-rule.yaml': prometheusRule,
} as const;

const flags = process.argv.slice(2);
if (flags.some((flag) => flag !== '--check')) {
  console.error('usage: node scripts/generate.ts [--check]');
  process.exit(2);
}
for (const [name, make] of Object.entries(FILES)) {
  const path = fileURLToPath(new URL(`../${name}`, import.meta.url));
  const wanted = make();
  if (wanted === current(path)) continue;
  if (flags.includes('--check')) {
    console.error(`${name} is out of date: node scripts/generate.ts`);
    process.exitCode = 1;
    continue;
  }
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, wanted);
  console.log(`wrote ${name}`);
}

function current(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null; // not made yet
  }
}
