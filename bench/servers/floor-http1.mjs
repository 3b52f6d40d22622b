// The floor: node:http that answers ready bytes. Its argument is a file: { fields, notModified, etag, body } with raw field lists.
// Prints its port.
import fs from 'node:fs';
import http from 'node:http';
import process from 'node:process';

const answer = JSON.parse(fs.readFileSync(process.argv[2], 'utf8'));
const body = Buffer.from(answer.body);
const server = http.createServer((request, response) => {
  if (request.headers['if-none-match'] === answer.etag) {
    response.writeHead(304, answer.notModified);
    response.end();
  } else {
    response.writeHead(200, answer.fields);
    response.end(body);
  }
});
server.listen(0, '127.0.0.1', () => console.log(`port ${server.address().port}`));
