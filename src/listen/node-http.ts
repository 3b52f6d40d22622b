/**
 * Node's HTTP server, asked for by its name. An import of `node:http` reads everything that it exports, its WebSocket among it, for which Node loads
 * its own copy of undici: 1.5 MB that nobody needs.
 */
export const { STATUS_CODES, createServer, validateHeaderName, validateHeaderValue } =
  process.getBuiltinModule('node:http');
