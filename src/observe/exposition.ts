/** The two ways in which a scrape is written down. */
export type Exposition = 'text' | 'openmetrics';

export const OPENMETRICS_TYPE = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

/** Chooses OpenMetrics where `Accept` names it and does not like plain text better; anything else gets text 0.0.4. */
export function chooseExposition(accept: string | undefined): Exposition {
  let open = 0;
  let text = 0;
  for (const range of (accept ?? '').toLowerCase().split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    if (type === 'application/openmetrics-text' && isKnownVersion(parameters))
      open = Math.max(open, weight(parameters));
    if (type === 'text/plain') text = Math.max(text, weight(parameters));
  }
  return open > 0 && open >= text ? 'openmetrics' : 'text';
}

/** Version 0.0.1 is a draft that ends counters otherwise; who names none takes the latest. */
function isKnownVersion(parameters: readonly string[]): boolean {
  const version = parameters.find((parameter) => parameter.startsWith('version='));
  return version === undefined || /^version="?1\.0\.0"?$/.test(version);
}

/** RFC 9110 §12.4.2; a weight that is none counts as 0, so that it asks for nothing. */
function weight(parameters: readonly string[]): number {
  const stated = parameters.find((parameter) => parameter.startsWith('q='));
  if (stated === undefined) return 1;
  const value = Number(stated.slice(2));
  return value >= 0 && value <= 1 ? value : 0;
}

/**
 * Turns text 0.0.4 into OpenMetrics 1.0.0: a counter's family is named without `_total`, help escapes quotes, no line is blank,
 * the end is marked.
 * prom-client's own OpenMetrics registry renames the counters themselves, so that one such scrape spoils all later text ones.
 */
export function toOpenMetrics(text: string): string {
  const families = text.replace(/^# HELP (\S+) (.*)\n# TYPE \1 (\w+)$/gm, describe);
  return `${families.replace(/\n{2,}/g, '\n').trimEnd()}\n# EOF\n`;
}

function describe(_: string, name: string, help: string, type: string): string {
  const family = type === 'counter' ? name.replace(/_total$/, '') : name;
  return `# HELP ${family} ${help.replaceAll('"', '\\"')}\n# TYPE ${family} ${type}`;
}
