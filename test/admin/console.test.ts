import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { AdminWorld, TOKEN } from './admin-world.ts';
import { Browser, type Session } from './console-browser.ts';

/** The console's page and its sessions, as a browser on the same machine meets them. */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const kill = (reason = 'a test'): string => JSON.stringify({ scope: 'agent:weather', reason });

describe('the console', () => {
  let world: AdminWorld;
  let browser: Browser;
  before(async () => {
    world = new AdminWorld();
    browser = await Browser.at(world);
  });
  after(() => browser.close());

  describe('its page', () => {
    test('is led to from the root, for people alone', async () => {
      const { status, headers } = await browser.send('/', { headers: { accept: 'text/html,application/xhtml+xml' } });
      assert.deepEqual([status, headers.location], [303, '/console/']);
      assert.equal((await browser.send('/console')).headers.location, '/console/');
      assert.equal((await browser.send('/', { headers: { accept: '*/*' } })).status, 401);
    });
    test('asks for no authority, runs nothing but its own files and is framed by nobody', async () => {
      const { status, headers } = await browser.send('/console/');
      assert.deepEqual([status, headers['content-type']], [200, 'text/html; charset=utf-8']);
      const policy = String(headers['content-security-policy']);
      for (const part of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "form-action 'none'"])
        assert.ok(policy.includes(part), part);
      assert.doesNotMatch(policy, /unsafe|https?:|data:|\*/);
      assert.equal(headers['x-content-type-options'], 'nosniff');
      assert.equal(headers['referrer-policy'], 'no-referrer');
      assert.equal(headers['cross-origin-opener-policy'], 'same-origin');
      assert.equal(headers['cross-origin-resource-policy'], 'same-origin');
      assert.equal(headers['set-cookie'], undefined);
    });
    test('is asked for again each time, and sent again only when it has changed', async () => {
      const { headers } = await browser.send('/console/');
      assert.equal(headers['cache-control'], 'no-cache');
      const etag = headers.etag ?? '';
      for (const condition of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const again = await browser.send('/console/', { headers: { 'if-none-match': condition } });
        assert.deepEqual([again.status, again.body, again.headers.etag], [304, '', etag], condition);
      }
      assert.equal((await browser.send('/console/', { headers: { 'if-none-match': '"other"' } })).status, 200);
    });
    for (const name of ['preact', 'hooks', 'htm']) {
      test(`has ${name} without a bare import and without a source map`, async () => {
        const { status, headers, body } = await browser.send(`/console/vendor/${name}.js`);
        assert.deepEqual([status, headers['content-type']], [200, 'text/javascript; charset=utf-8']);
        assert.doesNotMatch(body, /sourceMappingURL|(from|import)\s*\(?["'][^.]/);
        assert.match(body, /export/);
      });
    }
    const elsewhere = [
      '/console/../package.json',
      '/console/%2e%2e/package.json',
      '/console//index.html',
      '/console/index.html',
      '/console/vendor/',
      '/console/vendor/preact.js/',
      '/console/vendor/../index.html',
      '/console/__proto__',
      '/console/nothing.js',
    ];
    for (const path of elsewhere) {
      test(`${path} is no file of it`, async () => assert.equal((await browser.send(path)).status, 401));
    }
    test('is at no other name of this machine', async () => {
      for (const host of ['rebind.evil.test', `evil.example:${browser.port}`])
        assert.equal((await browser.send('/console/', { headers: { host } })).status, 421);
    });
    test('a file of it is only read', async () => {
      const { status, headers } = await browser.send('/console/', { method: 'POST', headers: browser.own });
      assert.deepEqual([status, headers.allow], [405, 'GET, HEAD']);
    });
    test('is not on a socket in the file system', async () => {
      assert.equal((await world.bySocket('/console/')).status, 404);
      for (const [method, target] of [
        ['POST', '/console/session'],
        ['POST', '/console/links'],
      ] as const) {
        const headers = { 'content-type': 'application/json' };
        const reply = await world.bySocket(target, { method, headers, body: '{}' });
        assert.equal(reply.status, 404);
        assert.match(reply.body, /Set listen\.admin to an address/);
      }
    });
  });

  describe('signing in', () => {
    test('with the token gives a cookie that no script reads and a key that no other port gets', async () => {
      const { status, headers, json } = await browser.signIn({ token: TOKEN });
      assert.equal(status, 200);
      assert.match(
        headers['set-cookie']?.join('\n') ?? '',
        new RegExp(`^cardea-session-${browser.port}=[\\w-]{43}; HttpOnly; SameSite=Strict; Path=/; Max-Age=28800$`),
      );
      assert.match(String(json['key']), /^[\w-]{43}$/);
      assert.equal(json['expires'], world.clock.now() + 8 * HOUR);
      assert.equal(headers['cache-control'], 'no-store');
    });
    test('leaves a receipt, without what was shown', async () => {
      const at = world.clock.now();
      await browser.signIn({ token: TOKEN });
      const { body } = await world.ask('/receipts?limit=1');
      assert.match(body, new RegExp(`"at":${at},"action":"sign-in","about":\\[\\],"reason":null,"by":"admin"`));
      assert.ok(!body.includes(TOKEN));
    });
    const wrong: readonly (readonly [string, object, number])[] = [
      ['another token', { token: `${TOKEN}x` }, 401],
      ['an empty token', { token: '' }, 401],
      ['a code that was never made', { code: 'AAAA' }, 401],
      ['both', { token: TOKEN, code: 'x' }, 400],
      ['neither', {}, 400],
      ['a token that is no text', { token: 7 }, 400],
      ['another member', { token: TOKEN, user: 'root' }, 400],
    ];
    for (const [what, proof, status] of wrong) {
      test(`with ${what} is ${status}`, async () => {
        await world.clock.advance(MINUTE);
        const got = await browser.signIn(proof);
        assert.equal(got.status, status);
        assert.equal(got.headers['set-cookie'], undefined);
      });
    }
    test('as a form sends it is 415', async () => {
      const got = await browser.signIn({ token: TOKEN }, { 'content-type': 'text/plain' });
      assert.equal(got.status, 415);
    });
    test('from a page of another site is refused, token or not', async () => {
      for (const headers of [
        { origin: 'https://evil.example' },
        { origin: 'null' },
        { origin: `http://127.0.0.1:${browser.port + 1}` },
        { 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-site' },
      ])
        assert.equal((await browser.signIn({ token: TOKEN }, headers)).status, 421, JSON.stringify(headers));
    });
    test('wrongly comes at the pace of wrong tokens; the right token is always taken', async () => {
      await world.clock.advance(MINUTE);
      const statuses: number[] = [];
      for (let n = 0; n < 6; n += 1) {
        statuses.push((await browser.signIn({ token: `guess-${n}` })).status);
        statuses.push((await browser.send('/kill', { headers: { authorization: `Bearer guess-${n}` } })).status);
      }
      assert.deepEqual(statuses, [...Array.from({ length: 10 }, () => 401), 429, 429]);
      assert.equal((await browser.signIn({ code: 'guess' })).status, 429);
      assert.equal((await browser.signIn({ token: TOKEN })).status, 200);
    });
  });

  describe('a link of the terminal', () => {
    const makeLink = async (): Promise<string> => {
      const headers = { authorization: `Bearer ${TOKEN}` };
      const { json } = await browser.send('/console/links', { method: 'POST', headers });
      return String(json['url']);
    };
    const codeOf = (url: string): string => url.slice(url.indexOf('#code=') + '#code='.length);

    test('has its code where no request and no log has it', async () => {
      const url = await makeLink();
      assert.match(url, new RegExp(`^${browser.origin}/console/#code=[\\w-]{43}$`));
      assert.doesNotMatch(new URL(url).pathname + new URL(url).search, /code/);
    });
    test('signs in once', async () => {
      await world.clock.advance(MINUTE);
      const code = codeOf(await makeLink());
      assert.equal((await browser.signIn({ code })).status, 200);
      const again = await browser.signIn({ code });
      assert.equal(again.status, 401);
      assert.match(again.body, /cardea console/);
    });
    test('is good for five minutes', async () => {
      const codes = [codeOf(await makeLink()), codeOf(await makeLink())] as const;
      await world.clock.advance(5 * MINUTE - 1);
      assert.equal((await browser.signIn({ code: codes[0] })).status, 200);
      await world.clock.advance(1);
      assert.equal((await browser.signIn({ code: codes[1] })).status, 401);
    });
    test('of the sixteen before is forgotten', async () => {
      const first = codeOf(await makeLink());
      const second = codeOf(await makeLink());
      for (let n = 0; n < 15; n += 1) {
        await makeLink();
        await world.clock.advance(1_000);
      }
      assert.equal((await browser.signIn({ code: first })).status, 401);
      assert.equal((await browser.signIn({ code: second })).status, 200);
    });
    test('is made by no session: none outlives itself through another', async () => {
      const session = await browser.enter();
      const headers = { ...browser.own, ...session };
      assert.equal((await browser.send('/console/links', { method: 'POST', headers })).status, 403);
    });
  });

  describe('a session', () => {
    const ask = (session: object, path = '/agents'): ReturnType<Browser['send']> =>
      browser.send(path, { headers: { ...session } });
    const order = (headers: object, path = '/kill', method = 'POST'): ReturnType<Browser['send']> =>
      browser.send(path, { method, headers: { ...browser.own, ...headers }, body: kill() });

    test('reads and changes as the token does, and what it changes says so', async () => {
      const session = await browser.enter();
      assert.equal((await ask(session)).status, 200);
      const made = await order(session);
      assert.deepEqual([made.status, made.json['by']], [200, 'console']);
    });
    const lacking: readonly (readonly [string, (session: Session) => object])[] = [
      ['the cookie alone, which every port of the host gets', ({ cookie }) => ({ cookie })],
      ['the key alone', (session) => ({ 'cardea-console-key': session['cardea-console-key'] })],
      ['the key of another session', ({ cookie }) => ({ cookie, 'cardea-console-key': 'A'.repeat(43) })],
      ['the cookie of another port', ({ cookie, ...key }) => ({ ...key, cookie: cookie.replace(/-\d+=/, '-1=') })],
      ['the value under another name', ({ cookie, ...key }) => ({ ...key, cookie: cookie.replace(/^.*=/, 'token=') })],
    ];
    for (const [what, headersOf] of lacking) {
      test(`is not opened by ${what}`, async () => {
        const session = await browser.enter();
        assert.equal((await ask(headersOf(session))).status, 401);
        assert.equal((await order(headersOf(session))).status, 401);
      });
    }
    test('is found among cookies that other ports have set, of the same name too', async () => {
      const session = await browser.enter();
      const name = session.cookie.split('=', 1)[0] ?? '';
      const cookie = `theme=dark; ${name}=evil; ${session.cookie}; ${name}=`;
      assert.equal((await ask({ ...session, cookie })).status, 200);
    });
    const crossSite: readonly (readonly [string, object, number])[] = [
      ['another Origin', { origin: 'https://evil.example' }, 421],
      ['the Origin of another port', { origin: 'http://127.0.0.1:1' }, 421],
      ['the Origin null', { origin: 'null' }, 421],
      ['no Origin', { origin: undefined }, 421],
      ['another site', { 'sec-fetch-site': 'cross-site' }, 421],
      ['another origin of the same site', { 'sec-fetch-site': 'same-site' }, 421],
      ['a form', { 'content-type': 'text/plain' }, 415],
      ['a form with a file', { 'content-type': 'multipart/form-data; boundary=x' }, 415],
      ['no type', { 'content-type': undefined }, 415],
    ];
    for (const [what, headers, status] of crossSite) {
      test(`changes nothing for ${what}`, async () => {
        const session = await browser.enter();
        const stopped = world.kills.length;
        const sent = Object.entries({ ...session, ...browser.own, ...headers }).filter(
          ([, value]) => value !== undefined,
        );
        const got = await browser.send('/kill', { method: 'POST', headers: Object.fromEntries(sent), body: kill() });
        assert.equal(got.status, status);
        assert.equal(world.kills.length, stopped);
      });
    }
    test('reads nothing for another site', async () => {
      const session = await browser.enter();
      for (const site of ['cross-site', 'same-site'])
        assert.equal((await ask({ ...session, 'sec-fetch-site': site })).status, 421);
    });
    test('does not mend a wrong token: it is one or the other', async () => {
      const session = await browser.enter();
      await world.clock.advance(MINUTE);
      assert.equal((await ask({ ...session, authorization: 'Bearer wrong' })).status, 401);
      const made = await order({ ...session, authorization: `Bearer ${TOKEN}` });
      assert.deepEqual([made.status, made.json['by']], [200, 'admin']);
    });
    test('is not asked by another name of the host', async () => {
      const session = await browser.enter();
      const host = `rebind.evil.test:${browser.port}`;
      assert.equal((await ask({ ...session, host })).status, 421);
    });
    test('ends with 30 minutes without use, and what the page reads by itself is none', async () => {
      const session = await browser.enter();
      await world.clock.advance(30 * MINUTE - 1);
      assert.equal((await ask(session)).status, 200);
      await world.clock.advance(30 * MINUTE - 1);
      assert.equal((await ask({ ...session, 'cardea-console-background': '?1' })).status, 200);
      await world.clock.advance(1);
      const { status, body } = await ask(session);
      assert.equal(status, 401);
      assert.match(body, /session has ended/);
    });
    test('ends after eight hours, however much it is used', async () => {
      const session = await browser.enter();
      const opened = world.clock.now();
      for (let n = 1; n < 32; n += 1) {
        await world.clock.advance(15 * MINUTE);
        assert.equal((await ask(session)).status, 200);
      }
      await world.clock.advance(15 * MINUTE - 1);
      const { json } = await ask(session, '/console/session');
      assert.deepEqual(json, { expires: opened + 8 * HOUR, idleUntil: opened + 8 * HOUR });
      await world.clock.advance(1);
      assert.equal((await ask(session)).status, 401);
    });
    test('ends when somebody signs out, and takes its cookie along', async () => {
      const session = await browser.enter();
      const other = await browser.enter();
      const headers = { ...browser.own, ...session };
      const out = await browser.send('/console/session', { method: 'DELETE', headers });
      assert.equal(out.status, 204);
      assert.match(out.headers['set-cookie']?.join('') ?? '', /=; HttpOnly; SameSite=Strict; Path=\/; Max-Age=0$/);
      assert.equal((await ask(session)).status, 401);
      assert.equal((await ask(other)).status, 200);
    });
    test('ends where the clock is set back, rather than last longer', async () => {
      const session = await browser.enter();
      await world.clock.advance(-1);
      assert.equal((await ask(session)).status, 401);
      await world.clock.advance(1);
    });
    test('ends with the token that opened it', async () => {
      const session = await browser.enter();
      world.door.shut();
      assert.equal((await ask(session)).status, 401);
    });
    test('ends its event streams, which are no use of it', async () => {
      const session = await browser.enter();
      const idle = await browser.watch(session);
      await world.clock.advance(30 * MINUTE);
      await idle.end;
      const next = await browser.enter();
      const stream = await browser.watch(next);
      await browser.send('/console/session', { method: 'DELETE', headers: { ...browser.own, ...next } });
      await stream.end;
    });
    test('makes room by ending the one that nobody has used for the longest time', async () => {
      const first = await browser.enter();
      await world.clock.advance(1);
      const second = await browser.enter();
      for (let n = 0; n < 30; n += 1) await browser.enter();
      await world.clock.advance(1);
      await ask(first);
      await browser.enter();
      assert.equal((await ask(first)).status, 200);
      assert.equal((await ask(second)).status, 401);
    });
    test('is shown to nobody who has none', async () => {
      assert.equal((await browser.send('/console/session')).status, 401);
      assert.equal((await ask({ authorization: `Bearer ${TOKEN}` }, '/console/session')).status, 404);
    });
  });
});
