// The floor: node:http answering ready bytes. Prints its port.
import http from 'node:http';
import process from 'node:process';

const body = Buffer.alloc(Number(process.argv[2] ?? 3072), 'x');
const server = http.createServer((_request, response) => {
  response.writeHead(200, ['Content-Type', 'application/json', 'Content-Length', String(body.length)]);
  response.end(body);
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
