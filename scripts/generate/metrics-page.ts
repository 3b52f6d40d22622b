import { METRICS } from '../../src/observe/metric-table.ts';

const INTRODUCTION = `# Metrics

Generated from \`src/observe/metric-table.ts\` by \`node scripts/generate.ts\`.

\`GET /metrics\` on the ops listener, in Prometheus' text format 0.0.4, or in OpenMetrics' where that is asked for. Label values come only from
the configuration and from closed lists; everything else is \`other\`. \`process_*\` and \`nodejs_*\` are prom-client's own.

\`deploy/monitoring/alerts.yaml\` and \`dashboard.json\` are made of them; [runbooks](runbooks.md) say what to do when an alert fires.

| metric | kind | labels | what it says |
|---|---|---|---|
`;

/** Makes the reference of every metric. */
export function metricsPage(): string {
  const rows = Object.entries(METRICS).map(([name, { kind, labels, help }]) => {
    const named = labels.map((label) => `\`${label}\``).join(', ');
    return `| \`${name}\` | ${kind} | ${named} | ${help} |\n`;
  });
  return INTRODUCTION + rows.join('');
}
