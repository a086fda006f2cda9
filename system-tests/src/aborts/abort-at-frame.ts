import { request } from 'node:http';

export type StreamKind = 'chat' | 'responses';

export interface AbortAsk {
  readonly url: string;
  readonly token: string;
  readonly model: string;
  readonly kind: StreamKind;
  /** Sent to the provider and stored in the ledger. */
  readonly tag: string;
  /** The client disconnects after this many text deltas. */
  readonly frame: number;
}

export const FRAMES = 100;
/** Far enough apart that a gateway usually receives one frame at a time. */
const FRAME_DELAY_MS = 3;
/** At four bytes each. */
const FRAME_TOKENS = 16;
const OVER_MS_MAX = 60_000;
const WORDS = 'Count to a hundred, one number in each frame, and do not stop before the end of the list.';

const PATHS: Record<StreamKind, string> = { chat: '/v1/chat/completions', responses: '/v1/responses' };
/** Occurs once in every content frame, and nowhere else. */
const PIECE: Record<StreamKind, RegExp> = {
  chat: /"delta":\{"content":"[^"]/g,
  responses: /"type":"response\.output_text\.delta"/g,
};

/** Returns the number of deltas received before the disconnect. Rejects if the stream ended earlier. */
export function abortAtFrame(asked: AbortAsk): Promise<number> {
  const { kind, frame, tag } = asked;
  return new Promise((resolve, reject) => {
    const sending = request(asked.url + PATHS[kind], {
      method: 'POST',
      agent: false,
      headers: {
        authorization: `Bearer ${asked.token}`,
        'content-type': 'application/json',
        'x-request-id': tag,
      },
    });
    let pieces = 0;
    let text = '';
    const timer = setTimeout(() => sending.destroy(new Error(`${tag} is silent`)), OVER_MS_MAX);
    sending.on('error', reject);
    sending.on('close', () => {
      clearTimeout(timer);
      if (pieces >= frame) resolve(pieces);
      else reject(new Error(`${tag} ended after ${pieces} of ${frame} pieces: ${text.slice(0, 300)}`));
    });
    sending.on('response', (response) => {
      response.on('error', () => undefined);
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString('latin1');
        const whole = text.lastIndexOf('\n\n') + 2;
        pieces += text.slice(0, whole).match(PIECE[kind])?.length ?? 0;
        text = text.slice(whole);
        if (pieces >= frame) sending.destroy();
      });
    });
    sending.end(bodyOf(asked));
  });
}

function bodyOf({ kind, model, tag }: AbortAsk): string {
  const sim = {
    tag,
    frames: FRAMES,
    frameBytes: FRAME_TOKENS * 4,
    outputTokens: FRAMES * FRAME_TOKENS,
    frameDelayMs: FRAME_DELAY_MS,
  };
  if (kind === 'responses') return JSON.stringify({ model, stream: true, input: WORDS, sim });
  return JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: WORDS }], sim });
}
