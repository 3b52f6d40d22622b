/** The modules of undici that are used: its index loads fetch, WebSocket, mocks and caches as well, some 5 MB of memory in every sidecar. */
declare module 'undici/lib/dispatcher/client.js' {
  export { Client as default } from 'undici';
}
declare module 'undici/lib/api/api-request.js' {
  import type { Client, Dispatcher } from 'undici';
  export default function request(this: Client, options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData>;
}
declare module 'undici/lib/core/util.js' {
  /** Names and values in turn, as they came: Latin-1 under HTTP/1, what Node made of them under HTTP/2. */
  export function parseRawHeaders(headers: unknown): string[];
}
