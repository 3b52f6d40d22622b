import type { CardRule } from '../kernel/card-rule.ts';
import { refuse, type Refusal } from '../kernel/refusal.ts';
import type { JsonObject } from './json.ts';
import { isArray, isObject, present, quote } from './json.ts';
import { readMember } from './schema/member-value.ts';

/** Refuses a card that requires an extension which no local client honours; optional ones pass. */
export function refuseExtensions(card: JsonObject, rule: Pick<CardRule, 'extensions'>): Refusal | undefined {
  const capabilities = readMember(card, 'capabilities');
  const extensions = isObject(capabilities) ? present(capabilities, 'extensions') : undefined;
  if (!isArray(extensions)) return undefined;
  for (const [index, extension] of extensions.entries()) {
    if (!isObject(extension) || present(extension, 'required') !== true) continue;
    const uri = present(extension, 'uri');
    if (typeof uri === 'string' && rule.extensions.includes(uri)) continue;
    const named = typeof uri === 'string' ? quote(uri) : 'an extension without a URI';
    return refuse(
      'unsupported-extension',
      `/capabilities/extensions/${index} requires ${named}; add it to extensions of the agent if its clients honour it.`,
    );
  }
  return undefined;
}
