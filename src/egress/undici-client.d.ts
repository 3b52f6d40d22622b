/** The two modules of undici that are used: its index loads fetch, WebSocket, mocks and caches as well, some 5 MB of memory in every sidecar. */
declare module 'undici/lib/dispatcher/client.js' {
  export { Client as default } from 'undici';
}
declare module 'undici/lib/api/api-request.js' {
  import type { Client, Dispatcher } from 'undici';
  export default function request(this: Client, options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData>;
}
