import { type AgentName, agentName } from '../../kernel/ids.ts';
import { nearest } from '../nearest.ts';
import { quote } from '../place.ts';
import { good, type ScalarType, wrong } from './scalar.ts';

/** A whole number within bounds, both of them allowed. */
export function integer(min: number, max: number): ScalarType<number> {
  return {
    kind: 'scalar',
    name: 'integer',
    range: `${min} to ${max}`,
    bare: true,
    schema: { type: 'integer', minimum: min, maximum: max },
    read(text) {
      if (!/^-?[0-9]{1,15}$/.test(text))
        return wrong(`${quote(text)} is no whole number; write one from ${min} to ${max}`);
      const value = Number(text);
      if (value < min) return wrong(`${text} is too little; write ${min} or more`);
      if (value > max) return wrong(`${text} is too much; write ${max} or less`);
      return good(value);
    },
    show: (value) => value,
  };
}

const YES: readonly string[] = ['yes', 'on', '1', 'y', 'true'];
const NO: readonly string[] = ['no', 'off', '0', 'n', 'false'];

export const boolean: ScalarType<boolean> = {
  kind: 'scalar',
  name: 'boolean',
  range: 'true, false',
  bare: true,
  schema: { type: 'boolean' },
  read(text) {
    if (text === 'true') return good(true);
    if (text === 'false') return good(false);
    const meant = YES.includes(text.toLowerCase())
      ? 'true'
      : NO.includes(text.toLowerCase())
        ? 'false'
        : 'true or false';
    return wrong(`${quote(text)} is neither true nor false; write ${meant}`);
  },
  show: (value) => value,
};

/** One of a few words. */
export function oneOf<const Words extends readonly string[]>(...words: Words): ScalarType<Words[number]> {
  const listed = words.join(', ');
  return {
    kind: 'scalar',
    name: 'word',
    range: listed,
    bare: false,
    schema: { enum: words },
    read(text) {
      const found = words.find((word) => word === text);
      if (found !== undefined) return good(found);
      const near = nearest(text, words);
      return wrong(`${quote(text)} is not one of: ${listed}${near === null ? '' : `; did you mean ${near}?`}`);
    },
    show: (value) => value,
  };
}

/** The name of an agent, which is part of its URL: `[a-z0-9-]{1,63}`. */
export const agentNameType: ScalarType<AgentName> = {
  kind: 'scalar',
  name: 'agent name',
  range: 'a to z, 0 to 9 and "-", up to 63',
  bare: false,
  schema: { type: 'string', pattern: '^[a-z0-9-]{1,63}$' },
  read(text) {
    if (/^[a-z0-9-]{1,63}$/.test(text)) return good(agentName(text));
    const meant = text
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-+|-+$/g, '')
      .slice(0, 63);
    const spelling = meant === '' ? '' : `; write ${meant}`;
    return wrong(`${quote(text)} is no agent name, which is 1 to 63 of a to z, 0 to 9 and "-"${spelling}`);
  },
  show: (value) => value,
};

/** Longer ones are no names, and every one stands in receipts and kills. */
const LONGEST_PRINCIPAL = 128;

/** A name for whoever speaks on a listener, of visible ASCII without spaces, so that it stands in a kill scope as it is. */
export const principalName: ScalarType<string> = {
  kind: 'scalar',
  name: 'principal',
  range: '',
  bare: false,
  schema: { type: 'string', pattern: `^[!-~]{1,${LONGEST_PRINCIPAL}}$` },
  read: (text) =>
    text.length <= LONGEST_PRINCIPAL && /^[\x21-\x7e]+$/.test(text)
      ? good(text)
      : wrong(
          `${quote(text)} is no name of a principal, which has no spaces, only ASCII and up to ${LONGEST_PRINCIPAL} characters`,
        ),
  show: (value) => value,
};
