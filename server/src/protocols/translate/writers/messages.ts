import { objectOf } from '../../../kit/json-value.ts';
import { messagesError } from '../error-shapes.ts';
import type { Failure } from '../failure.ts';
import {
  type AnswerWriter,
  failureIn,
  failureOf,
  type ModelEvent,
  type ReportedUsage,
  type StopReason,
} from '../model-events.ts';
import { sealed } from '../seal.ts';
import type { WriterOptions } from '../translation.ts';
import { answerId } from './answer-id.ts';
import { messageBlocks } from './messages-blocks.ts';
import { OpenBlock } from './messages-open-block.ts';
import { deltaUsage, type Message, messageEnd, messageUsage, NOT_ENDED } from './messages-shapes.ts';

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
    const shown = events.filter((event) => !this.#isHidden(event)).map((event) => this.#seal(event));
    const made = messageBlocks(shown, stop?.reason === 'length', this.#options.maker);
    this.failure = failureIn(events) ?? ('blocks' in made ? null : made);
    if (this.failure !== null) return this.#error(this.failure);
    for (const event of events) if (event.kind === 'usage') this.#usage = { ...this.#usage, ...event.usage };
    const message: Message = {
      ...this.#begun(events.find((event) => event.kind === 'start')),
      content: 'blocks' in made ? made.blocks : [],
      ...messageEnd(stop?.reason ?? 'end', stop?.sequence ?? null),
      usage: messageUsage(this.#usage),
    };
    return message;
  }

  /** What a chat provider wants back: clients return redacted thinking as they got it. */
  #seal(event: ModelEvent): ModelEvent {
    if (event.kind !== 'carried') return event;
    const { members } = event;
    return { kind: 'redacted_thinking', data: sealed(this.#options.maker, { kind: 'members', members }) };
  }

  #isHidden(event: ModelEvent): boolean {
    return event.kind === 'thinking' && !this.#showsThinking;
  }

  #frame(event: ModelEvent): string {
    switch (event.kind) {
      case 'start':
        return frameOf('message_start', { message: this.#begun(event) });
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
        return this.#isHidden(event) ? '' : this.#content(this.#seal(event));
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
    const open = OpenBlock.for(event, this.#nextIndex, this.#options.maker);
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
      delta: { container: null, ...messageEnd(reason, sequence) },
      usage: deltaUsage(this.#usage),
    });
    return text + frameOf('message_stop', {});
  }

  /** In place of the protocol's own end. */
  #fail(failure: Failure): string {
    this.failure = failure;
    this.#ended = true;
    return `event: error\ndata: ${JSON.stringify(this.#error(failure))}\n\n`;
  }

  #error(failure: Failure): object {
    return messagesError(failure, { status: null, requestId: this.#options.requestId });
  }

  #begun(start: ModelEvent | undefined): Message {
    const { id, model } = start?.kind === 'start' ? start : { id: '', model: '' };
    return {
      id: answerId('msg_', id, this.#options.requestId),
      type: 'message',
      role: 'assistant',
      model: model === '' ? this.#options.model : model,
      content: [],
      container: null,
      diagnostics: null,
      ...NOT_ENDED,
      usage: messageUsage(this.#usage),
    };
  }
}

const NO_CONTENT: Failure = { type: 'api_error', message: 'The provider sent no response.' };

function frameOf(type: string, members: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
}
