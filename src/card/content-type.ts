import { refuse, type Refusal } from '../kernel/refusal.ts';
import { quote } from './json.ts';

/** JSON by RFC 8259, by A2A (§8.2 and its media type), or by RFC 6839's suffix. */
const JSON_TYPE = /^application\/(?:json|[a-z0-9!#$&^_.+-]+\+json)$/;

/** Says why an answer with this `Content-Type` is no card, or undefined when it may be one. */
export function refuseContentType(contentType: string | undefined): Refusal | undefined {
  if (contentType === undefined) {
    return refuse('card-content-type', 'The answer has no Content-Type; serve the card as application/json.');
  }
  const type = (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
  if (JSON_TYPE.test(type)) return undefined;
  const hint = type === 'text/html' ? ' It is a web page; does the URL need a login?' : '';
  return refuse(
    'card-content-type',
    `The answer is ${quote(type)}, not application/json or application/a2a+json.${hint}`,
  );
}
