import { request } from 'node:http';
import { textFor } from './paced-provider.ts';
import type { Wire } from './plays.ts';

export interface Timed {
  readonly status: number;
  readonly requestId: string;
  readonly headAtMs: number;
  /** What arrived, and when. */
  readonly chunks: readonly { readonly atMs: number; readonly text: string }[];
  readonly text: string;
}

const PATHS: Readonly<Record<Wire, string>> = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
};

export interface Asked {
  readonly url: string;
  readonly token: string;
  readonly client: Wire;
  readonly lane: string;
  readonly name: string;
}

/** Asks for a stream, and notes when each part of it arrives. */
export function askTimed({ url, token, client, lane, name }: Asked): Promise<Timed> {
  const words = textFor(name);
  const messages = [{ role: 'user', content: words }];
  const said = client === 'responses' ? { input: words } : { messages };
  const body = JSON.stringify({ model: lane, stream: true, max_tokens: 64, ...said });
  const bodyOf = client === 'responses' ? JSON.stringify({ model: lane, stream: true, ...said }) : body;
  return new Promise((resolve, reject) => {
    const sent = request(
      url + PATHS[client],
      {
        method: 'POST',
        agent: false,
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          'anthropic-version': '2023-06-01',
        },
      },
      (response) => {
        const headAtMs = performance.now();
        const chunks: { atMs: number; text: string }[] = [];
        response.setEncoding('utf8');
        response.on('data', (text: string) => chunks.push({ atMs: performance.now(), text }));
        response.on('error', reject);
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            requestId: String(response.headers['x-request-id']),
            headAtMs,
            chunks,
            text: chunks.map(({ text }) => text).join(''),
          }),
        );
      },
    );
    sent.on('error', reject);
    sent.end(bodyOf);
  });
}
