import { type JsonObject, objectOf } from '../../../kit/json-value.ts';
import { messagesError } from '../error-shapes.ts';
import {
  type AnswerWriter,
  type Failure,
  failureIn,
  failureOf,
  type ModelEvent,
  type ReportedUsage,
  type StopReason,
} from '../model-events.ts';
import type { WriterOptions } from '../translation.ts';
import { messageBlocks } from './messages-blocks.ts';
import { OpenBlock } from './messages-open-block.ts';

const STOP_REASONS: Readonly<Record<StopReason, string>> = {
  end: 'end_turn',
  length: 'max_tokens',
  stop_sequence: 'stop_sequence',
  tool_calls: 'tool_use',
  refusal: 'refusal',
  content_filter: 'refusal',
  pause: 'pause_turn',
};

/** Writes Messages. Their blocks follow one another, so that parts which alternate wait for the block before them. */
export class MessagesWriter implements AnswerWriter {
  failure: Failure | null = null;
  readonly #options: WriterOptions;
  readonly #showsThinking: boolean;
  #usage: Partial<ReportedUsage> = {};
  #open: OpenBlock | null = null;
  #nextIndex = 0;
  #waiting: ModelEvent[] = [];
  #ended = false;

  constructor(options: WriterOptions) {
    this.#options = options;
    const { type, display } = objectOf(objectOf(options.request)['thinking']);
    this.#showsThinking = type !== 'disabled' && display !== 'omitted';
  }

  frames(events: readonly ModelEvent[]): string {
    let text = '';
    for (const event of events) if (!this.#ended) text += this.#frame(event);
    return text;
  }

  whole(events: readonly ModelEvent[]): unknown {
    const stop = events.find((event) => event.kind === 'stop');
    const shown = events.filter((event) => !this.#isHidden(event));
    const content = messageBlocks(shown, stop?.reason === 'length');
    this.failure = failureIn(events) ?? ('content' in content ? null : content);
    if (this.failure !== null) return messagesError(this.failure);
    for (const event of events) if (event.kind === 'usage') this.#usage = { ...this.#usage, ...event.usage };
    return {
      ...this.#message(events.find((event) => event.kind === 'start')),
      ...content,
      ...stopMembers(stop?.reason ?? 'end', stop?.sequence ?? null),
      usage: messagesUsage(this.#usage),
    };
  }

  #isHidden(event: ModelEvent): boolean {
    return event.kind === 'thinking' && !this.#showsThinking;
  }

  #frame(event: ModelEvent): string {
    switch (event.kind) {
      case 'start':
        return frameOf('message_start', {
          message: {
            ...this.#message(event),
            content: [],
            stop_reason: null,
            stop_sequence: null,
            usage: messagesUsage(this.#usage),
          },
        });
      case 'usage':
        this.#usage = { ...this.#usage, ...event.usage };
        return '';
      case 'ping':
        return frameOf('ping', {});
      case 'error':
      case 'unknown':
        return this.#fail(failureOf(event) ?? NO_CONTENT);
      case 'stop':
        return this.#stop(event.reason, event.sequence);
      default:
        return this.#isHidden(event) ? '' : this.#content(event);
    }
  }

  /** An input that is not complete may still get more; what belongs to other blocks waits until then. */
  #content(event: ModelEvent): string {
    const open = this.#open;
    if (open === null) return this.#begin(event);
    if (open.takes(event)) {
      const text = open.delta(event);
      return this.#waiting.length > 0 && open.isComplete() ? text + this.#release() : text;
    }
    if (this.#waiting.length > 0 || !open.isComplete()) {
      this.#waiting.push(event);
      return '';
    }
    return this.#close() + this.#begin(event);
  }

  #begin(event: ModelEvent): string {
    const open = OpenBlock.for(event, this.#nextIndex);
    // The end of a part, with nothing open.
    if (open === null) return '';
    this.#nextIndex++;
    this.#open = open;
    return open.start(event);
  }

  #close(): string {
    const open = this.#open;
    this.#open = null;
    return open === null ? '' : open.stop();
  }

  #release(): string {
    const waiting = this.#waiting;
    this.#waiting = [];
    let text = this.#close();
    for (const event of waiting) text += this.#content(event);
    return text;
  }

  #stop(reason: StopReason, sequence: string | null): string {
    let text = '';
    // Each round closes a block, so that there are never more rounds than events.
    while (this.#waiting.length > 0) text += this.#release();
    text += this.#close();
    this.#ended = true;
    text += frameOf('message_delta', {
      delta: stopMembers(reason, sequence),
      usage: messagesUsage(this.#usage),
    });
    return text + frameOf('message_stop', {});
  }

  /** In place of the protocol's own end. */
  #fail(failure: Failure): string {
    this.failure = failure;
    this.#ended = true;
    return `event: error\ndata: ${JSON.stringify(messagesError(failure))}\n\n`;
  }

  #message(start: ModelEvent | undefined): JsonObject {
    const { id, model } = start?.kind === 'start' ? start : { id: '', model: '' };
    return {
      id: id === '' ? `msg_${this.#options.requestId}` : id,
      type: 'message',
      role: 'assistant',
      model: model === '' ? this.#options.model : model,
    };
  }
}

const NO_CONTENT: Failure = { type: 'api_error', message: 'The provider sent no response.' };

function frameOf(type: string, members: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
}

function stopMembers(reason: StopReason, sequence: string | null): JsonObject {
  // A chat's `stop` stands for both; only a provider that names the sequence tells them apart.
  const named = reason === 'end' && sequence !== null ? 'stop_sequence' : reason;
  return { stop_reason: STOP_REASONS[named], stop_sequence: sequence };
}

/** Messages count tokens of a cache apart from the rest of the input. */
function messagesUsage(usage: Partial<ReportedUsage>): JsonObject {
  const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  return {
    input_tokens: Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens),
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cacheReadTokens,
    output_tokens: outputTokens,
    ...(usage.reasoningTokens === undefined
      ? {}
      : { output_tokens_details: { thinking_tokens: usage.reasoningTokens } }),
  };
}
