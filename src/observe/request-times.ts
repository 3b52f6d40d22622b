import { Histogram, type Registry } from 'prom-client';
import { REQUEST_KINDS, REQUEST_RESULTS, type RequestKind, type RequestResult } from '../kernel/outcome.ts';
import type { Ms } from '../kernel/units.ts';
import { named } from './metric-table.ts';

/** Upper bounds of the buckets, in ms: from a hit's half millisecond to the longest exchange. */
export const DURATION_BUCKETS: readonly number[] = [
  0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000,
];

type Label = 'kind' | 'result' | 'le';
type Shown = Awaited<ReturnType<Histogram<Label>['get']>>;
type Series = Shown['values'][number];

const NAME = 'cardea_request_duration_seconds';

/** Observations of one kind and result: one count per bucket and one for what is longer than all, then the sum in ms. */
type Row = Float64Array<ArrayBuffer>;
const OVER = DURATION_BUCKETS.length;
const SUM = OVER + 1;

/**
 * Request durations by kind and result. Every hit passes here: it adds to its row in place. prom-client's own child looks through
 * its bounds twice and makes nothing cheaper of it; here the numbers become its histogram when somebody scrapes.
 */
export class RequestTimes {
  readonly #rows: Readonly<Record<RequestKind, Map<RequestResult, Row>>>;

  constructor() {
    this.#rows = Object.fromEntries(REQUEST_KINDS.map((kind) => [kind, new Map()] as const)) as Record<
      RequestKind,
      Map<RequestResult, Row>
    >;
  }

  /** A clock that was set back in between makes no negative time. */
  add(kind: RequestKind, result: RequestResult, took: Ms): void {
    const rows = this.#rows[kind];
    let row = rows.get(result);
    if (row === undefined) rows.set(result, (row = new Float64Array(SUM + 1)));
    const spent = took > 0 ? took : 0;
    let at = 0;
    while (at < OVER && spent > (DURATION_BUCKETS[at] ?? 0)) at += 1;
    row[at] = (row[at] ?? 0) + 1;
    row[SUM] = (row[SUM] ?? 0) + spent;
  }

  /** Lists what occurred in a histogram's terms: cumulative buckets, sum in seconds, count. */
  *list(): Generator<Series> {
    for (const kind of REQUEST_KINDS) {
      for (const result of REQUEST_RESULTS) {
        const row = this.#rows[kind].get(result);
        if (row !== undefined) yield* seriesOf({ kind, result }, row);
      }
    }
  }
}

function* seriesOf(
  labels: { readonly kind: RequestKind; readonly result: RequestResult },
  row: Row,
): Generator<Series> {
  let count = 0;
  for (let at = 0; at <= OVER; at += 1) {
    count += row[at] ?? 0;
    const bound = DURATION_BUCKETS[at];
    const le = bound === undefined ? '+Inf' : bound / 1000;
    yield { metricName: `${NAME}_bucket`, labels: { le, ...labels }, value: count };
  }
  yield { metricName: `${NAME}_sum`, labels, value: (row[SUM] ?? 0) / 1000 };
  yield { metricName: `${NAME}_count`, labels, value: count };
}

/** prom-client's histogram for exposition alone: it is never told of anything, and shows what was added elsewhere. */
class ShownTimes extends Histogram<Label> {
  readonly #times: RequestTimes;
  /** Knows name, help and kind as prom-client writes them. */
  readonly #blank: Histogram<Label>;

  constructor(times: RequestTimes) {
    const row = { ...named(NAME), labelNames: ['kind', 'result'] as const, registers: [] };
    super(row);
    this.#times = times;
    this.#blank = new Histogram(row);
  }

  override async get(): Promise<Shown> {
    return { ...(await this.#blank.get()), values: [...this.#times.list()] };
  }

  /** What the registry asks where it writes text. */
  getForPromString(): Promise<Shown> {
    return this.get();
  }
}

/** Shows request durations in the registry. */
export function exportTimes(registry: Registry, times: RequestTimes): void {
  registry.registerMetric(new ShownTimes(times));
}
