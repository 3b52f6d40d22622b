/** A reverse proxy of undici's own caching interceptor behind node:http. Its argument is the origin's URL; prints its port. */
import http from 'node:http';
import { Agent, cacheStores, interceptors } from 'undici';

const origin = process.argv[2] ?? '';
const store = new cacheStores.MemoryCacheStore();
const agent = new Agent().compose(interceptors.cache({ store, type: 'shared' }));
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding', 'te', 'trailer', 'upgrade', 'expect']);

const server = http.createServer((request, response) => {
  const { url: path = '/', headers } = request;
  agent.dispatch(
    { origin, path, method: 'GET', headers: endToEnd(headers), body: null },
    {
      onRequestStart: () => undefined,
      onResponseStart(_controller, status, fields) {
        response.writeHead(status, endToEnd(fields));
      },
      onResponseData(_controller, chunk) {
        response.write(chunk);
      },
      onResponseEnd() {
        response.end();
      },
      onResponseError() {
        response.writeHead(502).end();
      },
    },
  );
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(`port ${typeof address === 'object' ? address?.port : address}`);
});

function endToEnd(fields: http.IncomingHttpHeaders): Record<string, string | string[]> {
  const kept = Object.entries(fields).filter(([name]) => !HOP_BY_HOP.has(name));
  return Object.fromEntries(kept.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}
