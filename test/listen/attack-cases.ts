import { readFileSync } from 'node:fs';
import { CARD_PATH } from '../support/world.ts';

/** One case of the attack table about what clients send. */
export interface AttackCase {
  readonly id: string;
  readonly title: string;
  readonly surface: string;
  readonly raw?: string;
  readonly assert?: {
    readonly status?: readonly number[];
    readonly closed?: boolean;
    readonly responses?: number;
    readonly originHits?: number;
    readonly no101?: boolean;
  };
}

const CASES = JSON.parse(
  readFileSync(new URL('../fixtures/attacks/http.json', import.meta.url), 'utf8'),
) as readonly AttackCase[];

/** The half of the table that is about requests; the other half is about answers, caching and freshness. */
export const REQUEST_CASES = CASES.filter(({ id }) => /^HTTP-(SMUG|TGT|HDR|DOS|H2)-/.test(id));

/** The bytes of a case, its short forms written out and its agent's path made one that serves a card. */
export function bytesOf(raw: string): string {
  const pipelined = `GET ${CARD_PATH} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(100);
  return raw
    .replace('<100 x GET /agents/alpha>', pipelined)
    .replace(/<(\d+) x "a:\\r\\n">/, (_, count: string) => 'a:\r\n'.repeat(Number(count)))
    .replace(/<(\d+) x a>/, (_, count: string) => 'a'.repeat(Number(count)))
    .replaceAll('/agents/alpha', CARD_PATH)
    .replaceAll('/agents/beta', CARD_PATH);
}
