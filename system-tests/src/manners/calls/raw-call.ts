import { type IncomingMessage, request } from 'node:http';
import { requireContract } from '../../harness/response-faults.ts';

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** Of an error that Relay itself made. */
  readonly error: { readonly code?: string; readonly param?: string; readonly message?: string };
}

/** One request with exactly these headers: `fetch` decides itself about lengths and types. */
export function rawCall(
  url: string,
  options: { method: string; headers: Readonly<Record<string, string>>; body?: string },
): Promise<RawAnswer> {
  const { method, headers, body } = options;
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers: { accept: 'application/json', ...headers } }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.once('error', reject).once('end', () => {
        const { pathname, search } = new URL(url);
        const status = response.statusCode ?? 0;
        const received = { method, path: pathname + search, status, headers: headersOf(response), text };
        try {
          requireContract(received);
        } catch (error) {
          reject(error as Error);
        }
        resolve({
          status,
          headers: response.headers,
          text,
          error: errorIn(text),
        });
      });
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

function headersOf({ headersDistinct }: IncomingMessage): Headers {
  const entries = Object.entries(headersDistinct);
  return new Headers(
    entries.flatMap(([name, values = []]) => values.map((value): [string, string] => [name, value])),
  );
}

function errorIn(text: string): RawAnswer['error'] {
  try {
    return (JSON.parse(text) as { error?: RawAnswer['error'] }).error ?? {};
  } catch {
    return {};
  }
}
