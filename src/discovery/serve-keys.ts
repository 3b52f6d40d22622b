import type { SigningKey } from '../card/sign.ts';
import { reprDigestOf, strongEtag } from '../http/answer.ts';
import { evaluateConditions } from '../http/validation.ts';
import type { Answer } from '../kernel/answer.ts';
import type { Ask } from '../kernel/ask.ts';

/** `GET /.well-known/jwks.json`: the key that verifies what Cardea has rewritten. */
export type ServeKeys = (ask: Ask) => Answer;

/** With `state: memory` the key is another one after a restart: a verifier asks again before long. */
const MAX_AGE = 300;

export function createServeKeys({ kid, algorithm, publicJwk }: SigningKey): ServeKeys {
  const keys = [{ ...publicJwk, kid, alg: algorithm.alg, use: 'sig' }];
  const body = new TextEncoder().encode(`${JSON.stringify({ keys })}\n`);
  const etag = strongEtag(body);
  return (ask) => {
    const fields = ['Cache-Control', `public, max-age=${MAX_AGE}`, 'ETag', etag];
    const trace = { kind: 'other', agent: null } as const;
    const conditions = evaluateConditions((name) => ask.field(name), ask.method, { etag, lastModified: undefined });
    if (conditions === 'not-modified')
      return { status: 304, fields, body: null, trace: { ...trace, result: 'not_modified' } };
    const content = ['Content-Type', 'application/jwk-set+json', 'Repr-Digest', reprDigestOf(etag)];
    return { status: 200, fields: [...fields, ...content], body, trace: { ...trace, result: 'hit' } };
  };
}
