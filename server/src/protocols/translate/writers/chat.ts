import { type JsonObject, objectOf } from '../../../kit/json-value.ts';
import { chatError } from '../error-shapes.ts';
import type { Failure } from '../failure.ts';
import {
  type AnswerWriter,
  failureIn,
  failureOf,
  type ModelEvent,
  type ReportedUsage,
  type StopReason,
} from '../model-events.ts';
import type { WriterOptions } from '../translation.ts';
import { answerId } from './answer-id.ts';

const FINISH_REASONS: Readonly<Record<StopReason, string | null>> = {
  end: 'stop',
  stop_sequence: 'stop',
  length: 'length',
  tool_calls: 'tool_calls',
  refusal: 'content_filter',
  content_filter: 'content_filter',
  pause: null,
};

const PAUSED: Failure = {
  type: 'api_error',
  message: 'The provider paused the response, which a chat completion cannot express.',
  why: 'it was paused, which a chat completion cannot express',
};

/**
 * Writes chat completions. Thinking becomes `reasoning_content`, the name that most compatible providers and clients have for it; its
 * signature has no place in a chat.
 */
export class ChatWriter implements AnswerWriter {
  failure: Failure | null = null;
  readonly #options: WriterOptions;
  readonly #wantsUsage: boolean;
  /** What every chunk has before its choices, and after a delta. */
  #head = '';
  #tail = '';
  #usage: Partial<ReportedUsage> = {};
  #ended = false;

  constructor(options: WriterOptions) {
    this.#options = options;
    const streamOptions = objectOf(objectOf(options.request)['stream_options']);
    this.#wantsUsage = streamOptions['include_usage'] === true;
  }

  frames(events: readonly ModelEvent[]): string {
    let text = '';
    for (const event of events) if (!this.#ended) text += this.#frame(event);
    return text;
  }

  whole(events: readonly ModelEvent[]): unknown {
    this.failure = failureIn(events) ?? pauseIn(events);
    if (this.failure !== null) return chatError(this.failure, null);
    const message = messageOf(events);
    let reason: string | null = null;
    for (const event of events) {
      if (event.kind === 'usage') this.#usage = { ...this.#usage, ...event.usage };
      if (event.kind === 'stop') reason = FINISH_REASONS[event.reason];
    }
    const start = events.find((event) => event.kind === 'start');
    return {
      ...this.#envelope('chat.completion', start),
      choices: [{ index: 0, message, logprobs: null, finish_reason: reason ?? 'stop' }],
      ...(Object.keys(this.#usage).length === 0 ? {} : { usage: chatUsage(this.#usage) }),
    };
  }

  #frame(event: ModelEvent): string {
    switch (event.kind) {
      case 'text':
        return this.#delta(`{"content":${JSON.stringify(event.text)}}`);
      case 'tool_input':
        return this.#delta(
          `{"tool_calls":[{"index":${event.call},"function":{"arguments":${JSON.stringify(event.json)}}}]}`,
        );
      case 'thinking':
        return this.#delta(`{"reasoning_content":${JSON.stringify(event.text)}}`);
      case 'refusal':
        return this.#delta(`{"refusal":${JSON.stringify(event.text)}}`);
      case 'tool_call':
        return this.#delta(JSON.stringify({ tool_calls: [{ index: event.call, ...toolCall(event, '') }] }));
      case 'usage':
        this.#usage = { ...this.#usage, ...event.usage };
        return '';
      case 'start':
        return this.#start(event);
      case 'stop':
        return this.#stop(event.reason);
      case 'ping':
        return ': ping\n\n';
      case 'thinking_signature':
      case 'redacted_thinking':
      case 'carried':
      case 'part_end':
      case 'left_out':
      // No provider of Messages reports any.
      case 'probabilities':
        return '';
      case 'error':
      case 'unknown':
        return this.#fail(failureOf(event) ?? PAUSED);
    }
  }

  #start(event: ModelEvent): string {
    const envelope = JSON.stringify(this.#envelope('chat.completion.chunk', event));
    this.#head = `data: ${envelope.slice(0, -1)},"choices":[`;
    this.#tail = this.#wantsUsage ? '],"usage":null}\n\n' : ']}\n\n';
    return this.#delta('{"role":"assistant","content":"","refusal":null}');
  }

  #delta(delta: string, finishReason = 'null'): string {
    const choice = `{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${finishReason}}`;
    return `${this.#head}${choice}${this.#tail}`;
  }

  #stop(reason: StopReason): string {
    const finishReason = FINISH_REASONS[reason];
    if (finishReason === null) return this.#fail(PAUSED);
    this.#ended = true;
    const usage = this.#wantsUsage
      ? `${this.#head}],"usage":${JSON.stringify(chatUsage(this.#usage))}}\n\n`
      : '';
    return `${this.#delta('{}', `"${finishReason}"`)}${usage}data: [DONE]\n\n`;
  }

  /** In place of the protocol's own end. */
  #fail(failure: Failure): string {
    this.failure = failure;
    this.#ended = true;
    return `data: ${JSON.stringify(chatError(failure, null))}\n\n`;
  }

  #envelope(object: string, start: ModelEvent | undefined): JsonObject {
    const { id, model, createdS } = start?.kind === 'start' ? start : { id: '', model: '', createdS: null };
    return {
      id: answerId('chatcmpl-', id, this.#options.requestId),
      object,
      created: createdS ?? Math.floor(this.#options.nowMs / 1000),
      model: model === '' ? this.#options.model : model,
    };
  }
}

function pauseIn(events: readonly ModelEvent[]): Failure | null {
  return events.some((event) => event.kind === 'stop' && event.reason === 'pause') ? PAUSED : null;
}

function messageOf(events: readonly ModelEvent[]): JsonObject {
  const texts = { text: '', thinking: '', refusal: '' };
  const inputs: string[] = [];
  for (const event of events) {
    if (event.kind === 'text' || event.kind === 'thinking' || event.kind === 'refusal')
      texts[event.kind] += event.text;
    else if (event.kind === 'tool_input') inputs[event.call] = (inputs[event.call] ?? '') + event.json;
  }
  const calls = events
    .filter((event) => event.kind === 'tool_call')
    .map((event) => toolCall(event, inputs[event.call] ?? '{}'));
  return {
    role: 'assistant',
    content: texts.text === '' ? null : texts.text,
    refusal: texts.refusal === '' ? null : texts.refusal,
    ...(texts.thinking === '' ? {} : { reasoning_content: texts.thinking }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

function toolCall({ id, name }: { readonly id: string; readonly name: string }, input: string): JsonObject {
  return { id, type: 'function', function: { name, arguments: input } };
}

function chatUsage(usage: Partial<ReportedUsage>): JsonObject {
  const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens } = usage;
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: {
      cached_tokens: cacheReadTokens,
      ...(cacheWriteTokens === undefined ? {} : { cache_write_tokens: cacheWriteTokens }),
    },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
  };
}
