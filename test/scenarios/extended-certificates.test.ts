import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { text } from 'node:stream/consumers';
import { type Authority, type Identity, makeAuthority } from '../support/certificates.ts';
import { RPC, modernCard, reply } from '../support/extended-world.ts';
import { type OriginServer, startOrigin } from '../support/origin-server.ts';
import { World } from '../support/world.ts';

/** Callers and Cardea itself, known by certificates: no credential stands in any field. */

const SECURED = {
  securitySchemes: { mutual: { mtlsSecurityScheme: {} } },
  securityRequirements: [{ schemes: { mutual: { list: [] } } }],
};

describe('extended cards by certificates', () => {
  let folder: string;
  let authority: Authority;
  let agent: OriginServer;
  let world: World;
  /** Who asked the agent, and what stood in Authorization. */
  const asked: (readonly [holder: string, authorization: string | undefined])[] = [];
  const people = new Map<string, Identity>();

  const write = (name: string, content: string): string => {
    const file = path.join(folder, name);
    writeFileSync(file, content);
    return file;
  };
  const files = (name: string, identity: Identity): string =>
    `cert: ${write(`${name}.pem`, identity.cert)}, key: "file:${write(`${name}.key`, identity.key)}"`;

  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'cardea-mutual-'));
    authority = makeAuthority();
    for (const name of ['ann', 'ben']) people.set(name, authority.issue({ names: [`spiffe://test/${name}`] }));
    const server = authority.issue({ names: ['127.0.0.1'] });
    const tls = {
      cert: server.cert,
      key: server.key,
      ca: authority.cert,
      requestCert: true,
      rejectUnauthorized: false,
    };
    agent = await startOrigin(
      (request, response) =>
        void answer(request).then((body) =>
          reply(response, 200, { Date: new Date(world.clock.now()).toUTCString() }, body),
        ),
      {
        tls,
      },
    );
    const ca = write('ca.pem', authority.cert);
    const own = `tls: { ca: ${ca}, ${files('cardea', authority.issue({ names: ['cardea.test'] }))} }`;
    const listen = `{ agents: { address: "127.0.0.1:0", tls: { ${files('server', server)}, clientCa: ${ca} } }, ops: "127.0.0.1:0", admin: "127.0.0.1:0" }`;
    const shared = `origin: "${agent.url}", unsafeAddresses: [127.0.0.1/32], ${own}`;
    world = await World.start({
      file: path.join(folder, 'cardea.yaml'),
      listen,
      config: `  ledger: { ${shared}, extended: { credentials: none } }
  forwarding: { ${shared} }
cache: { prefetch: false }`,
    });
  });
  after(async () => {
    await world.stop();
    await agent.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function answer(request: IncomingMessage): Promise<string> {
    const card = modernCard([RPC], SECURED);
    if (request.method === 'GET') return JSON.stringify(card).replaceAll('$ORIGIN', agent.url);
    await text(request);
    const { subject, subjectaltname } = (request.socket as TLSSocket).getPeerCertificate();
    asked.push([subject === undefined ? 'nobody' : String(subjectaltname), request.headers.authorization]);
    const skills = [{ id: `answer-${asked.length}`, name: 'x', description: 'x', tags: ['x'] }];
    return JSON.stringify({ jsonrpc: '2.0', id: 1, result: { ...card, skills } }).replaceAll('$ORIGIN', agent.url);
  }

  interface Told {
    readonly status: number;
    readonly answer: string | undefined;
    readonly isHit: boolean;
    readonly code: string | undefined;
  }
  function as(name: string, target: string, method = 'GET'): Promise<Told> {
    const identity = people.get(name);
    const options = { cert: identity?.cert, key: identity?.key, ca: authority.cert, agent: false, method };
    return new Promise((resolve, reject) => {
      const request = https.request(
        `${world.base.replace('http:', 'https:')}${target}`,
        { ...options, headers: { 'A2A-Version': '1.0' } },
        (response) =>
          void text(response).then((body) =>
            resolve({
              status: response.statusCode ?? 0,
              answer: /answer-\d+/.exec(body)?.[0],
              isHit: /; hit/.test(String(response.headers['cache-status'])),
              code: /"code":"([^"]+)"/.exec(body)?.[1],
            }),
          ),
      );
      request.on('error', reject).end();
    });
  }
  const card = (name: string): Promise<Told> => as(name, '/agents/ledger/extendedAgentCard');

  test("the agent is shown Cardea's certificate and no credential; each caller has its own card by its own certificate", async () => {
    for (const [index, name] of ['ann', 'ben'].entries()) {
      const first = await card(name);
      assert.deepEqual(first, { status: 200, answer: `answer-${index + 1}`, isHit: false, code: undefined });
    }
    for (const [index, name] of ['ann', 'ben'].entries()) {
      const again = await card(name);
      assert.deepEqual([again.answer, again.isHit], [`answer-${index + 1}`, true]);
    }
    assert.deepEqual(
      asked,
      Array.from({ length: 2 }, () => ['DNS:cardea.test', undefined]),
    );
  });
  test('who logs out ends what it has, and nobody else', async () => {
    assert.equal((await as('ann', '/logout', 'POST')).status, 204);
    assert.equal((await card('ben')).isHit, true);
    assert.equal((await card('ann')).isHit, false);
  });
  test('a certificate is no credential that could be sent on', async () => {
    const got = await as('ann', '/agents/forwarding/extendedAgentCard');
    assert.deepEqual([got.status, got.code], [401, 'principal-required']);
  });
  test('its name is in no line of the log', () => {
    assert.doesNotMatch(world.log.join(''), /spiffe:\/\/test\/(?:ann|ben)/);
  });
});
