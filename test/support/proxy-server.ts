import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';

/** A forward proxy on loopback. */
export interface ProxyServer {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  /** What each CONNECT named. */
  readonly asked: readonly string[];
  close(): void;
}

/** Starts a proxy that knows one origin, whatever it is called, and answers CONNECT like this. */
export async function startProxy(
  originPort: number,
  answer = 'HTTP/1.1 200 Connection established\r\n\r\n',
): Promise<ProxyServer> {
  const asked: string[] = [];
  const server = createServer();
  server.on('connect', (request, socket) => {
    asked.push(request.url ?? '');
    socket.on('error', () => {});
    if (!answer.includes(' 200 ')) return void socket.end(answer);
    const upstream = connect(originPort, '127.0.0.1', () => {
      socket.write(answer);
      socket.pipe(upstream).pipe(socket);
    });
    socket.once('close', () => upstream.destroy());
    upstream.on('error', () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    asked,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
