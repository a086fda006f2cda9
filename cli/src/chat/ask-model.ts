import { readEvents } from '@relay/contract/client';
import { ApiError } from '../api/api-error.ts';
import type { Api } from '../api/client.ts';
import { exitCodes, ProgramError } from '../kit/program-error.ts';

export interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

export interface Question {
  readonly model: string;
  readonly messages: readonly Message[];
  readonly stream: boolean;
  readonly maxTokens: number | undefined;
}

export interface Usage {
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
}

export interface Answer {
  readonly text: string;
  readonly usage: Usage | null;
  readonly finishReason: string | null;
  readonly headers: Headers;
}

interface Part {
  readonly error?: { readonly message?: string };
  readonly usage?: Usage | null;
  readonly choices?: readonly {
    readonly delta?: { readonly content?: string | null };
    readonly message?: { readonly content?: string | null };
    readonly finish_reason?: string | null;
  }[];
}

/**
 * Sends the question and passes on text as it arrives. Retries without streaming if a guardrail rejects streams.
 */
export async function askModel(
  api: Api,
  question: Question,
  onText: (text: string) => void,
  signal: AbortSignal,
): Promise<Answer> {
  try {
    return await askOnce(api, question, onText, signal);
  } catch (error) {
    const isGuarded = error instanceof ApiError && error.code === 'guardrail_streaming_unsupported';
    if (!isGuarded || !question.stream) throw error;
    return askOnce(api, { ...question, stream: false }, onText, signal);
  }
}

async function askOnce(
  api: Api,
  { model, messages, stream, maxTokens }: Question,
  onText: (text: string) => void,
  signal: AbortSignal,
): Promise<Answer> {
  const response = await api.stream('inference', '/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      model,
      messages,
      ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }),
      ...(stream ? { stream: true, stream_options: { include_usage: true } } : {}),
    }),
    signal,
  });
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  return isStream ? readStream(response, onText) : readWhole(response, onText);
}

async function readWhole(response: Response, onText: (text: string) => void): Promise<Answer> {
  const part = parsePart(await response.text());
  const text = part.choices?.[0]?.message?.content ?? '';
  onText(text);
  return {
    text,
    usage: part.usage ?? null,
    finishReason: part.choices?.[0]?.finish_reason ?? null,
    headers: response.headers,
  };
}

async function readStream(response: Response, onText: (text: string) => void): Promise<Answer> {
  let text = '';
  let usage: Usage | null = null;
  let finishReason: string | null = null;
  let isComplete = false;
  for await (const { data } of readEvents(response.body)) {
    if (data === '[DONE]') {
      isComplete = true;
      break;
    }
    const part = parsePart(data);
    if (part.error !== undefined) throw brokenOff(response, part.error.message);
    usage = part.usage ?? usage;
    finishReason = part.choices?.[0]?.finish_reason ?? finishReason;
    const more = part.choices?.[0]?.delta?.content ?? '';
    text += more;
    if (more !== '') onText(more);
  }
  if (!isComplete && finishReason === null) throw brokenOff(response);
  return { text, usage, finishReason, headers: response.headers };
}

function brokenOff({ headers }: Response, message?: string): ProgramError {
  const requestId = headers.get('x-request-id') ?? undefined;
  return new ProgramError(message ?? 'The response was interrupted.', exitCodes.error, {
    fix: `Try again. To see the cause, run: \`relay requests get ${requestId ?? 'ID'}\``,
    requestId,
  });
}

function parsePart(text: string): Part {
  try {
    return JSON.parse(text);
  } catch {
    throw new ProgramError('The provider’s response is not a chat completion.');
  }
}
