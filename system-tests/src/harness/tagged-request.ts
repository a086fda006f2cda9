import { type ClientRequest, request } from 'node:http';

export interface TaggedRequest {
  readonly url: string;
  readonly token: string;
  readonly model: string;
  /** Its name in the provider's log. */
  readonly tag: string;
  readonly maxTokens?: number;
  readonly stream?: boolean;
  /** What the simulated provider does with the request. */
  readonly sim?: Readonly<Record<string, unknown>>;
}

export interface TaggedAnswer {
  readonly tag: string;
  /** 0 when the connection ended without an answer. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
  readonly sentAtMs: number;
  readonly answeredAtMs: number;
}

export interface Sent<Answer = TaggedAnswer> {
  readonly answer: Promise<Answer>;
  answered(): boolean;
  /** Disconnects. */
  abort(): void;
}

const MAX_TOKENS = 10;

/** Sends one chat request on its own connection. */
export function sendTagged(options: TaggedRequest): Sent {
  const { url, token, model, tag, maxTokens = MAX_TOKENS, stream = false, sim = {} } = options;
  const messages = [{ role: 'user', content: 'Count.' }];
  const body = JSON.stringify({ model, stream, max_tokens: maxTokens, messages, sim: { ...sim, tag } });
  const sentAtMs = Date.now();
  let answered = false;
  let sending: ClientRequest | null = null;
  const answer = new Promise<TaggedAnswer>((resolve) => {
    const finish = (status: number, headers: TaggedAnswer['headers'], text: string) => {
      if (answered) return;
      answered = true;
      resolve({ tag, status, headers, text, sentAtMs, answeredAtMs: Date.now() });
    };
    sending = request(`${url}/v1/chat/completions`, {
      method: 'POST',
      agent: false,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'x-request-id': tag,
      },
    });
    sending.on('error', (error) => finish(0, {}, error.message));
    sending.on('response', (response) => {
      let text = '';
      const headers = response.headers as TaggedAnswer['headers'];
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => finish(response.statusCode ?? 0, headers, text));
      response.on('error', (error) => finish(0, headers, error.message));
    });
    sending.end(body);
  });
  return { answer, answered: () => answered, abort: () => sending?.destroy() };
}
