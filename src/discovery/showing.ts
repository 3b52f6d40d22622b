import { type Outcome, accepted } from '../kernel/refusal.ts';

/** What an origin is shown in one exchange. */
export interface Presented {
  /** The Authorization field; null for none. */
  readonly field: string | null;
  /** True where it was got for this very exchange, so that asking once more would bring nothing better. */
  readonly isNew: boolean;
}

/** Something to show, got when it is sent. */
export interface Showable {
  authorization(): Promise<Outcome<Presented>>;
  /** Throws away what an origin has refused with 401; resolves to what may be shown in its place, undefined where there is nothing. */
  another(refused: Presented): Promise<Presented | undefined>;
}

export const NOTHING_SHOWN: Showable = {
  authorization: async () => accepted({ field: null, isNew: true }),
  another: async () => undefined,
};

interface Exchanging<Exchange> {
  readonly send: (authorization: string | null) => Promise<Exchange>;
  readonly isRefused: (exchange: Exchange) => boolean;
  /** Hears of the exchange that another followed. */
  readonly passedOver: (exchange: Exchange) => void;
}

/**
 * Makes an exchange in which something is shown, and one more where the origin answers 401 to what was kept from before: a token that
 * was taken back, or a file that was rotated, costs no caller its answer.
 */
export async function exchangeShowing<Exchange>(
  shown: Showable,
  { send, isRefused, passedOver }: Exchanging<Exchange>,
): Promise<Outcome<Exchange>> {
  const first = await shown.authorization();
  if (!first.ok) return first;
  const exchange = await send(first.value.field);
  if (!isRefused(exchange)) return accepted(exchange);
  const other = await shown.another(first.value);
  if (other === undefined) return accepted(exchange);
  passedOver(exchange);
  const last = await send(other.field);
  if (isRefused(last)) await shown.another({ ...other, isNew: true });
  return accepted(last);
}
