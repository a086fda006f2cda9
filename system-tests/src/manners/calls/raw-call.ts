import { request } from 'node:http';

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
        resolve({
          status: response.statusCode ?? 0,
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

function errorIn(text: string): RawAnswer['error'] {
  try {
    return (JSON.parse(text) as { error?: RawAnswer['error'] }).error ?? {};
  } catch {
    return {};
  }
}
