// The floor of cleartext HTTP/2: node:http2 that answers ready bytes, told as floor-http1.mjs is.
import fs from 'node:fs';
import http2 from 'node:http2';
import process from 'node:process';

const answer = JSON.parse(fs.readFileSync(process.argv[2], 'utf8'));
const body = Buffer.from(answer.body);
const fields = { ':status': 200, ...paired(answer.fields) };
const notModified = { ':status': 304, ...paired(answer.notModified) };
const server = http2.createServer();
server.on('stream', (stream, headers) => {
  stream.on('error', () => undefined);
  if (headers['if-none-match'] === answer.etag) {
    stream.respond(notModified, { endStream: true });
  } else {
    stream.respond(fields);
    stream.end(body);
  }
});
server.listen(0, '127.0.0.1', () => console.log(`port ${server.address().port}`));

function paired(list) {
  return Object.fromEntries(list.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), list[at + 1]]] : [])));
}
