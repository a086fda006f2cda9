import { KEPT, parsedValue, parseObjectKeeping, writeJson } from '../../../kit/json-source.ts';
import { isObject, type JsonObject, listOf, objectOf, parseObject } from '../../../kit/json-value.ts';
import type { AnswerReader, ModelEvent, ReportedUsage, StopReason } from '../model-events.ts';
import { failureOfBody, statedFailure } from '../provider-failure.ts';
import { tokenCounts } from './token-counts.ts';

const NOTHING: readonly ModelEvent[] = [];
/** Of an error without words. */
const ERROR_STATUS = 502;
const PING: readonly ModelEvent[] = [{ kind: 'ping' }];

const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  end_turn: 'end',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  stop_sequence: 'stop_sequence',
  tool_use: 'tool_calls',
  refusal: 'refusal',
  pause_turn: 'pause',
};

const BLOCK = { input: KEPT } as const;
const START_SOURCES = { content_block: BLOCK } as const;

interface OpenBlock {
  readonly type: string;
  /** Of a tool call; -1 for other blocks. */
  readonly call: number;
  hasInput: boolean;
}

/**
 * Reads Messages. Blocks of the provider's own tools are reported: a request that is translated cannot ask for them. New events and
 * deltas are named and left out, as the protocol asks of its clients.
 */
export class MessagesReader implements AnswerReader {
  readonly sources = { content: [BLOCK] } as const;
  readonly #blocks = new Map<unknown, OpenBlock>();
  #calls = 0;
  #lastType = '';
  #stop: ModelEvent | null = null;
  /** Messages count tokens that were not in a cache apart from those that were. */
  #uncached = 0;
  #cacheRead = 0;
  #cacheWrite = 0;

  frame(event: string | null, data: string): readonly ModelEvent[] {
    // A comment, which keeps the connection open while the model thinks.
    if (data === '') return PING;
    const payload = data.includes('"input"') ? parseObjectKeeping(data, START_SOURCES) : parseObject(data);
    if (payload === null) return [{ kind: 'unknown', what: 'an event that is not a JSON object' }];
    return this.#payload(payload['type'] ?? event, payload);
  }

  end(): readonly ModelEvent[] {
    const stop = this.#stop;
    this.#stop = null;
    return stop === null ? NOTHING : [stop];
  }

  whole(answer: unknown): readonly ModelEvent[] {
    if (!isObject(answer)) return [{ kind: 'unknown', what: 'a body that is not a JSON object' }];
    if (answer['type'] === 'error' || isObject(answer['error'])) return [errorEvent(answer)];
    if (!Array.isArray(answer['content'])) return [{ kind: 'unknown', what: 'no content' }];
    const blocks = listOf(answer['content']).flatMap((block, index) => [
      ...this.#blockStart({ index, content_block: block }),
      ...this.#blockStop(index),
    ]);
    const { usage, ...rest } = answer;
    return [...this.#messageStart(rest), ...blocks, ...this.#messageDelta(rest, usage), ...this.end()];
  }

  #payload(type: unknown, payload: JsonObject): readonly ModelEvent[] {
    switch (type) {
      case 'content_block_delta':
        return this.#blockDelta(payload);
      case 'content_block_start':
        return this.#blockStart(payload);
      case 'content_block_stop':
        return this.#blockStop(payload['index']);
      case 'message_start':
        return this.#messageStart(objectOf(payload['message']));
      case 'message_delta':
        return this.#messageDelta(objectOf(payload['delta']), payload['usage']);
      case 'message_stop':
        return this.end();
      case 'ping':
        return PING;
      case 'error':
        return [errorEvent(payload)];
      default:
        return [{ kind: 'left_out', what: `events.${String(type)}` }];
    }
  }

  #messageStart(message: JsonObject): readonly ModelEvent[] {
    const { id, model } = message;
    const start: ModelEvent = {
      kind: 'start',
      id: typeof id === 'string' ? id : '',
      model: typeof model === 'string' ? model : '',
      createdS: null,
    };
    return [start, ...this.#usage(message['usage'])];
  }

  #messageDelta(delta: JsonObject, usage: unknown): readonly ModelEvent[] {
    const events = this.#usage(usage);
    const { stop_reason: reason, stop_sequence: sequence, stop_details: details } = delta;
    if (reason === null || reason === undefined) return events;
    const known = typeof reason === 'string' && Object.hasOwn(STOP_REASONS, reason) && STOP_REASONS[reason];
    if (!known) return [...events, { kind: 'unknown', what: `the stop reason ${String(reason)}` }];
    this.#stop = {
      kind: 'stop',
      reason: known,
      sequence: typeof sequence === 'string' ? sequence : null,
    };
    const explanation = objectOf(details)['explanation'];
    if (typeof explanation !== 'string') return events;
    return [...events, { kind: 'refusal', text: explanation }];
  }

  #blockStart({ index, content_block: given }: JsonObject): readonly ModelEvent[] {
    const block = objectOf(given);
    const type = String(block['type']);
    const call = type === 'tool_use' ? this.#calls++ : -1;
    this.#blocks.set(index, { type, call, hasInput: false });
    // Two blocks of the same type are two parts; of different types they cannot be taken for one.
    const events: ModelEvent[] = type === this.#lastType && call === -1 ? [{ kind: 'part_end' }] : [];
    this.#lastType = type;
    this.#addBlock(events, type, block, index, call);
    return events;
  }

  #addBlock(events: ModelEvent[], type: string, block: JsonObject, index: unknown, call: number): void {
    switch (type) {
      case 'text':
        addText(events, 'text', block['text']);
        if (listOf(block['citations']).length > 0)
          events.push({ kind: 'left_out', what: 'content.citations' });
        break;
      case 'thinking':
        addText(events, 'thinking', block['thinking']);
        addSignature(events, block['signature']);
        break;
      case 'redacted_thinking':
        events.push({ kind: 'redacted_thinking', data: String(block['data']) });
        break;
      case 'tool_use':
        events.push({ kind: 'tool_call', call, id: String(block['id']), name: String(block['name']) });
        this.#addInput(events, index, block['input']);
        break;
      default:
        events.push({ kind: 'unknown', what: `content of the type ${type}` });
    }
  }

  /** Whole in an answer that is not streamed; empty at the start of a streamed block. */
  #addInput(events: ModelEvent[], index: unknown, input: unknown): void {
    const block = this.#blocks.get(index);
    const value = parsedValue(input);
    if (block === undefined || !isObject(value) || Object.keys(value).length === 0) return;
    block.hasInput = true;
    events.push({ kind: 'tool_input', call: block.call, json: writeJson(input) });
  }

  #blockDelta({ index, delta: given }: JsonObject): readonly ModelEvent[] {
    const delta = objectOf(given);
    const events: ModelEvent[] = [];
    switch (delta['type']) {
      case 'text_delta':
        addText(events, 'text', delta['text']);
        break;
      case 'thinking_delta':
        addText(events, 'thinking', delta['thinking']);
        break;
      case 'signature_delta':
        addSignature(events, delta['signature']);
        break;
      case 'input_json_delta': {
        const [block, json] = [this.#blocks.get(index), delta['partial_json']];
        if (block === undefined || typeof json !== 'string' || json === '') break;
        block.hasInput = true;
        events.push({ kind: 'tool_input', call: block.call, json });
        break;
      }
      default:
        events.push({ kind: 'left_out', what: `content.${String(delta['type'])}` });
    }
    return events;
  }

  /** A tool without parameters is called without input; other protocols write an empty object. */
  #blockStop(index: unknown): readonly ModelEvent[] {
    const block = this.#blocks.get(index);
    this.#blocks.delete(index);
    if (block === undefined || block.call === -1 || block.hasInput) return NOTHING;
    return [{ kind: 'tool_input', call: block.call, json: '{}' }];
  }

  /** Later counts are totals, and leave out what did not change. */
  #usage(given: unknown): readonly ModelEvent[] {
    if (!isObject(given)) return NOTHING;
    const hour = objectOf(given['cache_creation'])['ephemeral_1h_input_tokens'];
    const output = objectOf(given['output_tokens_details'])['thinking_tokens'];
    this.#uncached = count(given['input_tokens'], this.#uncached);
    this.#cacheRead = count(given['cache_read_input_tokens'], this.#cacheRead);
    this.#cacheWrite = count(given['cache_creation_input_tokens'], this.#cacheWrite);
    const usage: Partial<ReportedUsage> | null = tokenCounts({
      inputTokens: this.#uncached + this.#cacheRead + this.#cacheWrite,
      outputTokens: given['output_tokens'],
      cacheReadTokens: this.#cacheRead,
      cacheWriteTokens: this.#cacheWrite,
      cacheWriteHourTokens: hour,
      reasoningTokens: output,
    });
    return usage === null ? NOTHING : [{ kind: 'usage', usage }];
  }
}

function addText(events: ModelEvent[], kind: 'text' | 'thinking', text: unknown): void {
  if (typeof text === 'string' && text !== '') events.push({ kind, text });
}

function addSignature(events: ModelEvent[], signature: unknown): void {
  if (typeof signature === 'string' && signature !== '')
    events.push({ kind: 'thinking_signature', signature });
}

function errorEvent(payload: JsonObject): ModelEvent {
  const failure = statedFailure(payload) ?? failureOfBody(JSON.stringify(payload), ERROR_STATUS);
  return { kind: 'error', failure };
}

function count(value: unknown, before: number): number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : before;
}
