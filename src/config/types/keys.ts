import { PRIVATE_MEMBERS } from '../../kernel/private-jwk.ts';
import { quote } from '../place.ts';
import { good, type ScalarType, wrong } from './scalar.ts';

/** The name of a key set, as agents list it and `Card-Status` shows it. */
export const setName: ScalarType<string> = {
  kind: 'scalar',
  name: 'name',
  range: 'a to z, 0 to 9, ".", "_" and "-", up to 63',
  bare: false,
  schema: { type: 'string', pattern: '^[a-z0-9._-]{1,63}$' },
  read: (text) =>
    /^[a-z0-9._-]{1,63}$/.test(text)
      ? good(text)
      : wrong(`${quote(text)} is no name of a key set, which is 1 to 63 of a to z, 0 to 9, ".", "_" and "-"`),
  show: (value) => value,
};

/** A key by its `kid` or its thumbprint. */
export const keyId: ScalarType<string> = {
  kind: 'scalar',
  name: 'kid or thumbprint',
  range: '',
  bare: false,
  schema: { type: 'string', minLength: 1, maxLength: 256 },
  read: (text) => (text !== '' && text.length <= 256 ? good(text) : wrong('is the kid or thumbprint of a key')),
  show: (value) => value,
};

/** Keys written out as JSON text. What is written is never repeated: it may hold a private key. */
export const keyText: ScalarType<string> = {
  kind: 'scalar',
  name: 'JSON',
  range: 'a JWK Set, a JWK or { "kid": "PEM" }',
  bare: false,
  schema: { type: 'string', minLength: 2 },
  read(text) {
    if (text.includes('PRIVATE KEY')) return wrong('holds a private key; write public keys alone');
    let isPrivate = false;
    try {
      JSON.parse(text, (name, value: unknown) => {
        isPrivate ||= PRIVATE_MEMBERS.has(name) && typeof value !== 'object';
        return value;
      });
    } catch {
      return wrong('is no JSON; write a JWK Set as text: \'{"keys":[…]}\'');
    }
    return isPrivate ? wrong('holds members of a private key; write public keys alone') : good(text);
  },
  show: (value) => value,
};
