import { type Bytes, bytes, type Ms, ms } from '../../kernel/units.ts';
import { quote } from '../place.ts';
import { good, type Reading, type ScalarType, wrong } from './scalar.ts';

/** Units by falling size; the first is what a stranger's spelling is rewritten to. */
interface Unit {
  readonly symbol: string;
  readonly factor: number;
  /** Other ways in which people write it, lower case. */
  readonly slips: readonly string[];
}

const DURATIONS: readonly Unit[] = [
  { symbol: 'd', factor: 86_400_000, slips: ['day', 'days'] },
  { symbol: 'h', factor: 3_600_000, slips: ['hr', 'hrs', 'hour', 'hours'] },
  { symbol: 'm', factor: 60_000, slips: ['min', 'mins', 'minute', 'minutes'] },
  { symbol: 's', factor: 1_000, slips: ['', 'sec', 'secs', 'second', 'seconds'] },
  { symbol: 'ms', factor: 1, slips: ['msec', 'millis', 'milliseconds'] },
];

const SIZES: readonly Unit[] = [
  { symbol: 'GiB', factor: 1024 ** 3, slips: ['g', 'gb', 'gi'] },
  { symbol: 'MiB', factor: 1024 ** 2, slips: ['m', 'mb', 'mi'] },
  { symbol: 'KiB', factor: 1024, slips: ['k', 'kb', 'ki'] },
  { symbol: 'B', factor: 1, slips: ['', 'byte', 'bytes'] },
];

/** Digits beyond these leave the range of exact integers, whatever the unit. */
const DIGITS = 9;

interface Bounds {
  readonly min: string;
  readonly max: string;
}

/** A length of time: one whole number and one unit, `250ms 30s 5m 1h 7d`. */
export function duration(min = '0s', max = '365d'): ScalarType<Ms> {
  return quantity({ name: 'duration', units: DURATIONS, examples: '30s, 5m, 1h or 7d', make: ms }, { min, max });
}

/** A number of bytes: one whole number and one binary unit, `512B 64KiB 10MiB 1GiB`. */
export function size(min: string, max: string): ScalarType<Bytes> {
  return quantity({ name: 'size', units: SIZES, examples: '64KiB or 10MiB', make: bytes }, { min, max });
}

interface Quantity<T> {
  readonly name: string;
  readonly units: readonly Unit[];
  readonly examples: string;
  make(value: number): T;
}

function quantity<T extends number>(what: Quantity<T>, bounds: Bounds): ScalarType<T> {
  const { name, units } = what;
  const [min, max] = [exact(bounds.min, units) ?? 0, exact(bounds.max, units) ?? Number.MAX_SAFE_INTEGER];
  const read = (text: string): Reading<T> => {
    const value = exact(text, units);
    if (value === null)
      return wrong(`${quote(text)} is no ${name}; write ${mend(text, units) ?? `one like ${what.examples}`}`);
    if (value < min) return wrong(`${text} is too little; write ${bounds.min} or more`);
    if (value > max) return wrong(`${text} is too much; write ${bounds.max} or less`);
    return good(what.make(value));
  };
  const symbols = units.map((unit) => unit.symbol).join('|');
  return {
    kind: 'scalar',
    name,
    range: `${bounds.min} to ${bounds.max}`,
    bare: false,
    schema: { type: 'string', pattern: `^[0-9]{1,${DIGITS}}(${symbols})$` },
    read,
    show: (value) => format(value, units),
  };
}

function exact(text: string, units: readonly Unit[]): number | null {
  const [, digits = '', symbol = ''] = /^([0-9]+)([A-Za-z]+)$/.exec(text) ?? [];
  const unit = units.find((each) => each.symbol === symbol);
  return unit === undefined || digits.length > DIGITS ? null : Number(digits) * unit.factor;
}

/** Reads what a person may have meant (`30`, `5 minutes`, `1h30m`, `1.5h`, `10MB`) and writes it the one way; null for nonsense. */
function mend(text: string, units: readonly Unit[]): string | null {
  const parts = [...text.matchAll(/([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*/g)];
  if (parts.length === 0 || parts.map(([all]) => all).join('') !== text.trimStart()) return null;
  let total = 0;
  for (const [, digits = '', word = ''] of parts) {
    const unit =
      units.find((each) => each.symbol === word) ??
      units.find((each) => each.symbol.toLowerCase() === word.toLowerCase() || each.slips.includes(word.toLowerCase()));
    if (unit === undefined || digits.length > DIGITS) return null;
    total += Number(digits) * unit.factor;
  }
  return Number.isInteger(total) ? format(total, units) : null;
}

/** Writes a value in the largest unit that divides it; nothing at all is written in seconds or bytes. */
function format(value: number, units: readonly Unit[]): string {
  if (value === 0) return `0${units.find((unit) => unit.slips.includes(''))?.symbol ?? ''}`;
  const unit = units.find(({ factor }) => value % factor === 0);
  return unit === undefined ? String(value) : `${value / unit.factor}${unit.symbol}`;
}
