import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { loadText } from '../support/config.ts';

const FILE = new URL('../fixtures/config/every-setting.yaml', import.meta.url);
/** RFC 7515, appendix A.3. */
const KEY = `{ "keys": [{ "kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
  "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0" }] }`;
const KEYS = { '/etc/app/keys/local.jwks.json': KEY };
const PEM = { '/etc/app/ca.pem': '', '/etc/app/client.pem': '', '/run/secrets/client.key': '', '/etc/app/crl.pem': '' };

const PINS = { '/etc/cardea/approved.yaml': '' };

/** What the table does not have yet. Whoever adds a part takes its settings out of this list, which must end up empty. */
const NOT_BUILT: readonly string[] = ['limits.clientRate'];

test('of every setting that is planned, exactly those are refused whose part is not built', async () => {
  const config = await loadText(readFileSync(FILE), { files: { ...PEM, ...KEYS, ...PINS } });
  assert.deepEqual(config.ok ? [] : config.problems.map(({ path }) => path), NOT_BUILT);
});
