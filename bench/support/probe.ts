import http from 'node:http';

/** One answer, as its bytes came. */
export interface Probed {
  readonly status: number;
  /** Names and values in turn. */
  readonly fields: readonly string[];
  readonly body: Buffer;
}

/** One request on a connection of its own. */
export function probe(url: string, headers: http.OutgoingHttpHeaders = {}): Promise<Probed> {
  return new Promise((resolve, reject) => {
    const request = http.get(url, { agent: false, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, fields: response.rawHeaders, body: Buffer.concat(chunks) }),
      );
    });
    request.on('error', reject);
  });
}

/** The value of a field; empty where it is not there. */
export function fieldOf({ fields }: Probed, name: string): string {
  const at = fields.findIndex((each, place) => place % 2 === 0 && each.toLowerCase() === name);
  return at < 0 ? '' : (fields[at + 1] ?? '');
}
