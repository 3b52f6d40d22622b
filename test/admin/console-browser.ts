import { once } from 'node:events';
import http from 'node:http';
import { type Listening, listening } from '../support/listening.ts';
import { type AdminWorld, TOKEN } from './admin-world.ts';

/** What one request got. */
export interface Got {
  readonly status: number;
  readonly headers: Readonly<http.IncomingHttpHeaders>;
  readonly body: string;
  readonly json: Readonly<Record<string, unknown>>;
}

export interface Sent {
  readonly method?: string;
  readonly headers?: http.OutgoingHttpHeaders;
  readonly body?: string;
}

/** The admin API behind a real listener, and what a browser sends to it. */
export class Browser {
  readonly #open: Listening;
  readonly port: number;

  private constructor(open: Listening) {
    this.#open = open;
    this.port = open.port;
  }

  static async at(world: AdminWorld): Promise<Browser> {
    return new Browser(await listening(world.handle));
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** What a page of the listener's own adds to a change. */
  get own(): http.OutgoingHttpHeaders {
    return { origin: this.origin, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };
  }

  send(path: string, { method = 'GET', headers = {}, body = '' }: Sent = {}): Promise<Got> {
    return new Promise((resolve, reject) => {
      const to = { host: '127.0.0.1', port: this.port, path, method, agent: false, headers };
      const request = http.request(to, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => resolve(gotOf(response, Buffer.concat(chunks).toString())));
      });
      request.on('error', reject);
      request.end(body);
    });
  }

  /** Asks to sign in, as the page does. */
  signIn(proof: object, headers: http.OutgoingHttpHeaders = {}): Promise<Got> {
    const body = JSON.stringify(proof);
    return this.send('/console/session', { method: 'POST', headers: { ...this.own, ...headers }, body });
  }

  /** Signs in with the token; what the page then has to show. */
  async enter(): Promise<Session> {
    const { headers, json } = await this.signIn({ token: TOKEN });
    const [cookie = ''] = headers['set-cookie'] ?? [];
    return { cookie: cookie.split(';', 1)[0] ?? '', 'cardea-console-key': String(json['key']) };
  }

  /** Begins to read the events; resolves once they flow, to their end. */
  watch(headers: http.OutgoingHttpHeaders): Promise<{ readonly end: Promise<unknown> }> {
    return new Promise((resolve, reject) => {
      const to = { host: '127.0.0.1', port: this.port, path: '/events', agent: false, headers };
      const request = http.request(to, (response) => {
        const end = once(response, 'end');
        response.once('data', () => resolve({ end }));
        response.resume();
      });
      request.on('error', reject);
      request.end();
    });
  }

  close(): Promise<void> {
    return this.#open.close();
  }
}

/** The fields that a signed-in page sends. */
export type Session = { readonly cookie: string; readonly 'cardea-console-key': string };

function gotOf({ statusCode = 0, headers }: http.IncomingMessage, body: string): Got {
  const isJson = /json/.test(headers['content-type'] ?? '') && body !== '';
  return { status: statusCode, headers, body, json: isJson ? (JSON.parse(body) as Got['json']) : {} };
}
