import { type ClientRequest, request } from 'node:http';
import { headers as names } from '@relay/contract';
import type { Fleet } from './fleet.ts';

export interface AskOptions {
  readonly model: string;
  readonly tag: string;
  readonly maxTokens?: number;
  readonly stream?: boolean;
  /** What the simulated provider does with the request. */
  readonly sim?: Readonly<Record<string, unknown>>;
  /** The process that receives it. */
  readonly process?: number;
  /** A URL outside the fleet. */
  readonly url?: string;
}

export interface Answer {
  readonly tag: string;
  readonly process: number;
  readonly maxTokens: number;
  /** 0 when the connection ended without an answer. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
  readonly sentAtMs: number;
  readonly answeredAtMs: number;
}

export interface Asked {
  readonly answer: Promise<Answer>;
  answered(): boolean;
  /** Disconnects. */
  abort(): void;
}

const MAX_TOKENS = 10;

/** Sends one chat request on its own connection. */
export function ask(fleet: Fleet, options: AskOptions): Asked {
  const { model, tag, maxTokens = MAX_TOKENS, stream = false, sim = {}, process = 0 } = options;
  // An embedded deployment has one process, which receives everything.
  const url = options.url ?? fleet.deployment.processes[process % fleet.size]?.url;
  if (url === undefined) throw new RangeError(`there is no process ${process}`);
  const messages = [{ role: 'user', content: 'Count.' }];
  const body = JSON.stringify({ model, stream, max_tokens: maxTokens, messages, sim: { ...sim, tag } });
  const sentAtMs = Date.now();
  let answered = false;
  let sending: ClientRequest | null = null;
  const answer = new Promise<Answer>((resolve) => {
    const finish = (status: number, headers: Answer['headers'], text: string) => {
      if (answered) return;
      answered = true;
      resolve({ tag, process, maxTokens, status, headers, text, sentAtMs, answeredAtMs: Date.now() });
    };
    sending = request(`${url}/v1/chat/completions`, {
      method: 'POST',
      agent: false,
      headers: {
        authorization: `Bearer ${fleet.deployment.apiToken}`,
        'content-type': 'application/json',
        'x-request-id': tag,
      },
    });
    sending.on('error', (error) => finish(0, {}, error.message));
    sending.on('response', (response) => {
      let text = '';
      const headers = response.headers as Answer['headers'];
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => finish(response.statusCode ?? 0, headers, text));
      response.on('error', (error) => finish(0, headers, error.message));
    });
    sending.end(body);
  });
  return { answer, answered: () => answered, abort: () => sending?.destroy() };
}

/** Sends them concurrently, spread evenly over the processes. */
export function askAll(fleet: Fleet, options: readonly AskOptions[]): Asked[] {
  return options.map((each, index) => ask(fleet, { process: index % fleet.size, ...each }));
}

export function answersOf(asked: readonly Asked[]): Promise<Answer[]> {
  return Promise.all(asked.map(({ answer }) => answer));
}

export interface ErrorBody {
  readonly code: string;
  readonly type: string;
  readonly retry_after?: number;
  readonly policy?: { readonly id: string; readonly metric: string; readonly period: string } | null;
}

export function errorOf({ text }: Answer): ErrorBody {
  return (JSON.parse(text) as { error: ErrorBody }).error;
}

export function header(answer: Answer, name: keyof typeof names): string | undefined {
  return answer.headers[names[name].toLowerCase()];
}

/** Request IDs are UUIDv7: the first 48 bits are the time at which the process received the request. */
export function arrivedAtMs(answer: Answer): number {
  const id = header(answer, 'requestId') ?? '';
  return Number.parseInt(id.replace('-', '').slice(0, 12), 16);
}
