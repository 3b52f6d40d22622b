import { readFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';

const ALERTS = new URL('../../deploy/monitoring/alerts.yaml', import.meta.url);

/** Makes the Prometheus Operator's object of the alerts. */
export function prometheusRule(): string {
  const { groups } = parse(readFileSync(ALERTS, 'utf8')) as { readonly groups: unknown };
  const rule = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'cardea' },
    spec: { groups },
  };
  const from = '# Generated from deploy/monitoring/alerts.yaml by `node scripts/generate.ts`.\n';
  return from + stringify(rule, { lineWidth: 0 });
}
