import type { Json } from './json.ts';
import { isArray, isObject } from './json.ts';

/** How Python holds the numbers of a card: as doubles (protobuf's Struct), or as its own integers where they are whole. */
export type PythonNumbers = 'doubles' | 'integers';

/** Writes what `json.dumps(value, sort_keys=True, separators=(",", ":"))` writes: ASCII, names by code point, Python's numbers. */
export function pythonJson(value: Json, numbers: PythonNumbers): string {
  if (typeof value === 'number') return pythonNumber(value, numbers);
  if (typeof value === 'string') return pythonString(value);
  if (isArray(value)) return `[${value.map((item) => pythonJson(item, numbers)).join(',')}]`;
  if (!isObject(value)) return String(value);
  const members = Object.entries(value)
    .toSorted(([one], [other]) => byCodePoint(one, other))
    .map(([name, item]) => `${pythonString(name)}:${pythonJson(item, numbers)}`);
  return `{${members.join(',')}}`;
}

/** Orders by code point, where JavaScript's own order is by UTF-16 unit: U+1F600 comes after U+FB33 here. */
export function byCodePoint(one: string, other: string): number {
  const [a, b] = [[...one], [...other]];
  const at = a.findIndex((char, index) => char !== b[index]);
  if (at === -1) return a.length - b.length;
  return (a[at]?.codePointAt(0) ?? 0) - (b[at]?.codePointAt(0) ?? -1);
}

/** JSON.stringify escapes as Python does up to U+007E; Python escapes every UTF-16 unit from U+007F on. */
const pythonString = (value: string): string =>
  JSON.stringify(value).replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

function pythonNumber(value: number, numbers: PythonNumbers): string {
  return numbers === 'integers' && Number.isInteger(value) ? BigInt(value).toString() : pythonDouble(value);
}

/** `repr(float)`: the shortest digits, like JavaScript's, with an exponent below 1e-4 and from 1e16, of two digits at least. */
function pythonDouble(value: number): string {
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0';
  const [mantissa = '', exponent = '0'] = value.toExponential().split('e');
  const power = Number(exponent);
  if (power >= -4 && power < 16) {
    const plain = decimalOf(mantissa, power);
    return plain.includes('.') ? plain : `${plain}.0`;
  }
  const digits = String(Math.abs(power)).padStart(2, '0');
  return `${mantissa}e${power < 0 ? '-' : '+'}${digits}`;
}

/** Moves the point of `d.ddd` by a power between -4 and 15. */
function decimalOf(mantissa: string, power: number): string {
  const sign = mantissa.startsWith('-') ? '-' : '';
  const digits = mantissa.replace(/[-.]/g, '');
  if (power < 0) return `${sign}0.${'0'.repeat(-power - 1)}${digits}`;
  const whole = digits.slice(0, power + 1).padEnd(power + 1, '0');
  const fraction = digits.slice(power + 1);
  return fraction === '' ? `${sign}${whole}` : `${sign}${whole}.${fraction}`;
}
