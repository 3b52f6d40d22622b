// An origin in a process of its own. Its argument is a file: a list of { path, body, cacheControl, etag }; without an etag everything is
// answered whole. Prints its port.
import fs from 'node:fs';
import http from 'node:http';
import process from 'node:process';

const pages = new Map(JSON.parse(fs.readFileSync(process.argv[2], 'utf8')).map((page) => [page.path, page]));
const server = http.createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const page = pages.get(request.url);
  if (page === undefined) return void response.writeHead(404, { 'Content-Length': 0 }).end();
  const validator = page.etag === undefined ? {} : { ETag: page.etag };
  const fields = { 'Content-Type': 'application/json', 'Cache-Control': page.cacheControl, ...validator };
  if (page.etag !== undefined && request.headers['if-none-match'] === page.etag)
    return void response.writeHead(304, fields).end();
  response.writeHead(200, { ...fields, 'Content-Length': Buffer.byteLength(page.body) }).end(page.body);
});
server.listen(0, '127.0.0.1', () => console.log(`port ${server.address().port}`));
