import { request } from 'node:http';
import type { Target } from '../chaos/world.ts';

export interface Held {
  readonly tag: string;
  readonly status: number;
  readonly code: string | null;
  readonly retryAfter: string | null;
}

/** Sends one and answers how it was taken; those that are taken are held by the provider for that long. */
export function hold(url: string, target: Target, tag: string, delayMs: number): Promise<Held> {
  const body = {
    model: target.model,
    messages: [{ role: 'user', content: 'Hold.' }],
    max_tokens: 20,
    sim: { tag, delayMs, outputTokens: 5 },
  };
  return new Promise((resolve, reject) => {
    const sending = request(`${url}/v1/chat/completions`, {
      method: 'POST',
      agent: false,
      headers: {
        authorization: `Bearer ${target.token}`,
        'content-type': 'application/json',
        'x-request-id': tag,
      },
    });
    sending.on('error', reject);
    sending.on('response', (response) => {
      let text = '';
      response.on('error', reject);
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => {
        const { error } = JSON.parse(text) as { error?: { code: string } };
        const retryAfter = response.headers['retry-after'] ?? null;
        resolve({ tag, status: response.statusCode ?? 0, code: error?.code ?? null, retryAfter });
      });
    });
    sending.end(JSON.stringify(body));
  });
}

export interface Filled {
  readonly held: readonly Held[];
  readonly refused: readonly Held[];
}

/** Sends requests until one is rejected while the accepted ones are in flight; resolves when all have ended. */
export async function fillSpool(
  url: string,
  target: Target,
  options: { name: string; requestsMax: number; delayMs: number },
): Promise<Filled> {
  const asked: Promise<Held>[] = [];
  let refusals = 0;
  for (let index = 0; index < options.requestsMax && refusals === 0; index += 1) {
    const asking = hold(url, target, `${options.name}-${index}`, options.delayMs);
    asked.push(asking);
    void asking.then(({ status }) => {
      if (status === 503) refusals += 1;
    });
    // A few at a time, because rejections return immediately.
    if (index % 10 === 9) await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const all = await Promise.all(asked);
  return {
    held: all.filter(({ status }) => status === 200),
    refused: all.filter(({ status }) => status !== 200),
  };
}
