import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Scratch } from './scratch.ts';

/** An origin in this process. */
export interface Origin {
  readonly url: string;
  /** How many requests it has had. */
  readonly asked: () => number;
  close(): void;
}

/** Starts one that answers with what a function makes of the request's path: a body, a status, further fields. */
export async function startOrigin(answer: http.RequestListener, scratch: Scratch): Promise<Origin> {
  let asked = 0;
  const server = http.createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    asked += 1;
    answer(request, response);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  scratch.later(close);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked: () => asked, close };
}

/** A card at every path, the same one, for an hour, with a strong validator. */
export function answers(body: string, cacheControl = 'max-age=3600'): http.RequestListener {
  const fields = { 'Content-Type': 'application/json', 'Cache-Control': cacheControl, ETag: '"one"' };
  return (request, response) => {
    if (request.headers['if-none-match'] === fields.ETag) response.writeHead(304, fields).end();
    else response.writeHead(200, { ...fields, 'Content-Length': Buffer.byteLength(body) }).end(body);
  };
}
