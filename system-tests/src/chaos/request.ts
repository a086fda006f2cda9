import { request } from 'node:http';
import type { Fault } from '@relay/provider-sim';
import type { Random } from './random.ts';
import type { Target } from './world.ts';

export type Kind = 'chat' | 'chat stream' | 'responses' | 'responses stream' | 'embeddings';

export const KINDS: readonly Kind[] = ['chat', 'chat stream', 'responses', 'responses stream', 'embeddings'];
export const STREAM_KINDS: readonly Kind[] = ['chat stream', 'responses stream'];

const PATHS: Record<Kind, string> = {
  chat: '/v1/chat/completions',
  'chat stream': '/v1/chat/completions',
  responses: '/v1/responses',
  'responses stream': '/v1/responses',
  embeddings: '/v1/embeddings',
};
/** Larger than any response, so that none is truncated. */
const OUTPUT_TOKENS_MAX = 200;
const ANSWER_MS_MAX = 60_000;

export interface Asking {
  /** Sent as the client's own request id, and to the provider in the body. */
  readonly tag: string;
  readonly target: Target;
  readonly kind: Kind;
  /** How the provider handles it. */
  readonly sim: Fault;
  readonly words: string;
  /** When the client disconnects; null when it does not. */
  readonly hangUpAfterMs: number | null;
}

export interface Answer {
  /** 0 when the connection ended without a response. */
  readonly status: number;
  /** Whether the response was complete. */
  readonly whole: boolean;
}

export function isStream(kind: Kind): boolean {
  return STREAM_KINDS.includes(kind);
}

/** Text of random length, so that requests differ in their token counts. */
export function someWords(random: Random): string {
  return Array.from({ length: random.between(2, 60) }, () => random.pick(WORDS)).join(' ');
}
const WORDS = ['river', 'stone', 'naïve', 'bridge', 'window', 'quiet', 'seven', 'again', '日本語', 'lane'];

/** Sends one request on its own connection. Never rejects, since the gateway may be dead. */
export function ask(url: string, asking: Asking): Promise<Answer> {
  const { tag, target, kind, hangUpAfterMs } = asking;
  return new Promise((resolve) => {
    const sending = request(url + PATHS[kind], {
      method: 'POST',
      agent: false,
      headers: {
        authorization: `Bearer ${target.token}`,
        'content-type': 'application/json',
        'x-request-id': tag,
      },
    });
    const timers = [setTimeout(() => sending.destroy(), ANSWER_MS_MAX)];
    if (hangUpAfterMs !== null) timers.push(setTimeout(() => sending.destroy(), hangUpAfterMs));
    let answer: Answer = { status: 0, whole: false };
    sending.on('error', () => undefined);
    sending.on('response', (response) => {
      answer = { status: response.statusCode ?? 0, whole: false };
      response.on('error', () => undefined);
      response.on('end', () => {
        answer = { ...answer, whole: response.complete };
      });
      response.resume();
    });
    sending.on('close', () => {
      for (const timer of timers) clearTimeout(timer);
      resolve(answer);
    });
    sending.end(bodyOf(asking));
  });
}

function bodyOf({ tag, target, kind, sim, words }: Asking): string {
  const common = { model: target.model, sim: { ...sim, tag } };
  const messages = [{ role: 'user', content: words }];
  switch (kind) {
    case 'chat':
      return JSON.stringify({ ...common, messages, max_tokens: OUTPUT_TOKENS_MAX });
    case 'chat stream':
      return JSON.stringify({ ...common, messages, max_tokens: OUTPUT_TOKENS_MAX, stream: true });
    case 'responses':
      return JSON.stringify({ ...common, input: words, max_output_tokens: OUTPUT_TOKENS_MAX });
    case 'responses stream':
      return JSON.stringify({ ...common, input: words, max_output_tokens: OUTPUT_TOKENS_MAX, stream: true });
    case 'embeddings':
      return JSON.stringify({ ...common, input: words });
  }
}
