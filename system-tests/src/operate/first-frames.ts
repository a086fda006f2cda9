import { request } from 'node:http';
import { stampOf } from './stamping-upstream.ts';

export interface FirstFrames {
  /** From the provider's write to the client's read, one for each stream. */
  readonly delaysMs: readonly number[];
  /** Streams that failed or were cut, in words. */
  readonly problems: readonly string[];
}

interface Asked {
  readonly url: string;
  readonly token: string;
  readonly model: string;
}

/** Reads this many streams, a few side by side, and times the first frame of each. */
export async function readFirstFrames(asked: Asked, count: number, beside: number): Promise<FirstFrames> {
  const delaysMs: number[] = [];
  const problems: string[] = [];
  let left = count;
  async function readNext(): Promise<void> {
    while (left > 0) {
      left -= 1;
      const { text, firstMs } = await readStream(asked);
      if (text.endsWith('data: [DONE]\n\n')) delaysMs.push(firstMs - stampOf(text));
      else problems.push(text.slice(-200));
    }
  }
  await Promise.all(Array.from({ length: beside }, readNext));
  return { delaysMs, problems };
}

function readStream({ url, token, model }: Asked): Promise<{ text: string; firstMs: number }> {
  return new Promise((resolve) => {
    const sending = request(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    });
    let text = '';
    let firstMs = Number.NaN;
    const failed = (error: Error) => resolve({ text: `failed: ${error.message}`, firstMs });
    sending.on('error', failed);
    sending.on('response', (response) => {
      response.on('data', (chunk: Buffer) => {
        if (text === '') firstMs = performance.timeOrigin + performance.now();
        text += chunk.toString();
      });
      response.on('error', failed);
      response.on('end', () => resolve({ text, firstMs }));
    });
    sending.end(JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'Count.' }] }));
  });
}
