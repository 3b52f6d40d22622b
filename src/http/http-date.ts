import { type EpochMs, epochMs } from '../kernel/units.ts';

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const;

const MONTH = `(?<month>${MONTHS.join('|')})`;
const TIME = '(?<hour>\\d\\d):(?<minute>\\d\\d):(?<second>\\d\\d)';

// "Although all date formats are specified to be case-sensitive, a cache recipient SHOULD match the field value case-insensitively"
// — RFC 9111 §4.2. In all else exactly these three forms are accepted.
const IMF_FIXDATE = new RegExp(`^(?:${WEEKDAYS.join('|')}), (?<day>\\d\\d) ${MONTH} (?<year>\\d{4}) ${TIME} GMT$`, 'i');
const RFC850 = new RegExp(
  `^(?:Sunday|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday), (?<day>\\d\\d)-${MONTH}-(?<year>\\d\\d) ${TIME} GMT$`,
  'i',
);
const ASCTIME = new RegExp(`^(?:${WEEKDAYS.join('|')}) ${MONTH} (?<day>\\d\\d| \\d) ${TIME} (?<year>\\d{4})$`, 'i');

const DAY_MS = 86_400_000;

/**
 * Parses an HTTP-date in any of its three forms (RFC 9110 §5.6.7), to the letter: another zone, separator or number of digits is
 * invalid. The weekday must be one, but need not be that of the date.
 * @param now decides the century of a two-digit year.
 */
export function parseHttpDate(text: string, now: EpochMs): EpochMs | undefined {
  const trimmed = text.trim();
  const full = (IMF_FIXDATE.exec(trimmed) ?? ASCTIME.exec(trimmed))?.groups;
  if (full !== undefined) return instant(full, Number(full['year']));
  const short = RFC850.exec(trimmed)?.groups;
  return short === undefined ? undefined : instant(short, fullYear(Number(short['year']), now));
}

/** Writes an instant as IMF-fixdate, the form that senders generate. */
export function formatHttpDate(at: EpochMs): string {
  const days = Math.floor(at / DAY_MS);
  const { year, month, day } = civilDate(days);
  const seconds = Math.floor((at - days * DAY_MS) / 1000);
  const time = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60].map(twoDigits).join(':');
  const weekday = WEEKDAYS[(((days + 4) % 7) + 7) % 7] ?? '';
  return `${weekday}, ${twoDigits(day)} ${MONTHS[month - 1] ?? ''} ${String(year).padStart(4, '0')} ${time} GMT`;
}

const twoDigits = (value: number): string => String(value).padStart(2, '0');

function instant(parts: Readonly<Record<string, string>>, year: number): EpochMs | undefined {
  const month = MONTHS.findIndex((name) => name.toLowerCase() === parts['month']?.toLowerCase()) + 1;
  const day = Number(parts['day']);
  const [hour, minute, second] = [Number(parts['hour']), Number(parts['minute']), Number(parts['second'])];
  if (day < 1 || day > daysInMonth(year, month) || hour > 23 || minute > 59) return undefined;
  // A leap second is part of the grammar; it counts as the second after it.
  if (second > 60) return undefined;
  return epochMs(((daysSinceEpoch(year, month, day) * 24 + hour) * 60 + minute) * 60_000 + second * 1000);
}

/**
 * "Recipients of a timestamp value in rfc850-date format, which uses a two-digit year, MUST interpret a timestamp that appears to
 * be more than 50 years in the future as representing the most recent year in the past that had the same last two digits."
 */
function fullYear(twoDigit: number, now: EpochMs): number {
  const { year } = civilDate(Math.floor(now / DAY_MS));
  const candidate = year - (year % 100) + twoDigit;
  if (candidate > year + 50) return candidate - 100;
  return candidate <= year - 50 ? candidate + 100 : candidate;
}

const isLeap = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;

function daysInMonth(year: number, month: number): number {
  if (month === 2) return isLeap(year) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/*
 * The proleptic Gregorian calendar, counted in years that begin in March so that the leap day is the last: the rules of this
 * folder have no `Date`, whose parser and local time are where such code goes wrong.
 */

function daysSinceEpoch(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

function civilDate(days: number): { readonly year: number; readonly month: number; readonly day: number } {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1;
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}
