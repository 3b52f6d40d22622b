/** Every metric that Cardea has: name, kind, labels and help. The docs are made from it, and nothing else names a metric. */
export interface MetricRow {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly help: string;
}

const row = (kind: MetricRow['kind'], labels: readonly string[], help: string): MetricRow => ({ kind, labels, help });

export const METRICS = {
  cardea_requests_total: row(
    'counter',
    ['agent', 'kind', 'result'],
    'Requests answered, by what was asked for and how it ended.',
  ),
  cardea_request_duration_seconds: row(
    'histogram',
    ['kind', 'result'],
    "Time from a request's head to its written answer.",
  ),
  cardea_card_last_success_timestamp_seconds: row(
    'gauge',
    ['agent'],
    'When the origin last gave or validated the card; 0 until the first time.',
  ),
  cardea_card_fresh_until_timestamp_seconds: row(
    'gauge',
    ['agent'],
    'When the card stops being fresh; 0 while there is none.',
  ),
  cardea_card_stale_since_timestamp_seconds: row(
    'gauge',
    ['agent'],
    'When the card stopped being fresh; 0 while it is fresh or missing.',
  ),
  cardea_card_state: row('gauge', ['agent', 'state'], 'The state of the card: exactly one is 1.'),
  cardea_card_signature: row(
    'gauge',
    ['agent', 'verdict'],
    "What is known of the card's signatures: one is 1 where there is a card.",
  ),
  cardea_card_pending_changes: row(
    'gauge',
    ['agent', 'class'],
    'Changes that wait for review, or that the rule blocks, by class.',
  ),
  cardea_card_info: row(
    'gauge',
    ['agent', 'version', 'protocol_version', 'digest'],
    'Always 1; its labels name the card that is served.',
  ),
  cardea_fetch_total: row('counter', ['agent', 'outcome'], 'Exchanges with origins, by how they ended.'),
  cardea_fetch_duration_seconds: row('histogram', ['agent'], 'Time of a whole exchange with an origin.'),
  cardea_egress_denied_total: row('counter', ['reason'], 'Exchanges that egress policy refused.'),
  cardea_verify_total: row(
    'counter',
    ['result'],
    'Verifications of cards: the verdict on the signatures, or the code of the refusal.',
  ),
  cardea_jwks_fetch_total: row('counter', ['result'], 'Exchanges for key sets, by how they ended.'),
  cardea_keys_last_success_timestamp_seconds: row(
    'gauge',
    ['keys'],
    'When the keys of a set were last had; 0 until the first time.',
  ),
  cardea_forward_first_byte_seconds: row(
    'histogram',
    ['agent'],
    "Time from a call that is sent on to the head of the agent's answer.",
  ),
  cardea_forward_streams: row('gauge', ['agent'], 'Answers to calls that are passing through now.'),
  cardea_forward_bytes_total: row(
    'counter',
    ['agent', 'direction'],
    "Bytes of bodies that passed through: of callers' requests, of agents' responses.",
  ),
  cardea_cache_entries: row('gauge', ['kind'], 'Entries held.'),
  cardea_cache_bytes: row('gauge', ['kind'], 'Bytes charged for the entries held.'),
  cardea_cache_evictions_total: row('counter', ['reason'], 'Entries that left the cache.'),
  cardea_principals_active: row('gauge', [], 'Callers for whom an extended card is held.'),
  cardea_kill_switch_active: row('gauge', ['scope'], '1 while a kill of that kind is in force.'),
  cardea_kill_switch_denials_total: row('counter', ['scope'], 'Requests that a kill refused, by its kind.'),
  cardea_kill_persisted: row('gauge', [], '1 where a restart would find exactly the kills that are in force now.'),
  cardea_receipts_lost_total: row('counter', [], 'Receipts that could not be written down.'),
  cardea_registry_lookup_total: row(
    'counter',
    ['registry', 'result'],
    'What was found each time a registry was read: for each agent that names it the status, or `failed` where it could not be had.',
  ),
  cardea_registry_last_success_timestamp_seconds: row(
    'gauge',
    ['registry'],
    'When the registry was last had; 0 until the first time.',
  ),
  cardea_config_last_reload_successful: row(
    'gauge',
    [],
    '1 where the last attempt to read the configuration was adopted.',
  ),
  cardea_config_last_reload_success_timestamp_seconds: row('gauge', [], 'When a configuration was last adopted.'),
  cardea_config_info: row('gauge', ['digest'], 'Always 1; its label is the digest of the configuration in force.'),
  cardea_build_info: row('gauge', ['version', 'node'], 'Always 1; its labels name the running program.'),
} as const satisfies Record<string, MetricRow>;

export type MetricName = keyof typeof METRICS;

/** What prom-client wants of a metric, from its row. */
export const named = <Name extends MetricName>(
  name: Name,
): { name: Name; help: string; labelNames: (typeof METRICS)[Name]['labels'][number][] } => {
  const { help, labels } = METRICS[name];
  return { name, help, labelNames: [...labels] };
};
