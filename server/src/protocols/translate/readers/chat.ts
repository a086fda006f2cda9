import { isObject, type JsonObject, listOf, parseObject } from '../../../kit/json-value.ts';
import { chatFailure } from '../error-shapes.ts';
import type { AnswerReader, ModelEvent, ReportedUsage, StopReason } from '../model-events.ts';
import { tokenCounts } from './token-counts.ts';

const NOTHING: readonly ModelEvent[] = [];
const PING: readonly ModelEvent[] = [{ kind: 'ping' }];

const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  stop: 'end',
  // What some compatible providers call it.
  eos: 'end',
  length: 'length',
  tool_calls: 'tool_calls',
  content_filter: 'content_filter',
};

/** Members of a message that are read below, or that say again what another member says. */
const READ_MEMBERS: ReadonlySet<string> = new Set([
  'role',
  'content',
  'refusal',
  'tool_calls',
  'reasoning_content',
  'reasoning',
  'reasoning_details',
]);

interface Stop {
  readonly reason: StopReason;
  readonly sequence: string | null;
}

/**
 * Reads chat completions. Members of the message that are not known are reported, because they are part of the answer; members around
 * it (fingerprints, timings, a router's notes) are not.
 */
export class ChatReader implements AnswerReader {
  #id: string | null = null;
  #stop: Stop | null = null;
  #refused = false;
  /** The ids of the calls so far; a call's place is its number. */
  readonly #calls: string[] = [];
  /** The call that was last begun at an index of the provider's. */
  readonly #callAt = new Map<number, number>();

  frame(event: string | null, data: string): readonly ModelEvent[] {
    // A comment, which keeps the connection open while the model thinks.
    if (data === '') return PING;
    if (data === '[DONE]') return this.end();
    const chunk = parseObject(data);
    if (chunk === null) return [{ kind: 'unknown', what: 'an event that is not a JSON object' }];
    const failure = chatFailure(chunk);
    if (failure !== null) return [{ kind: 'error', ...failure }];
    if (event === 'error') return [{ kind: 'error', type: 'server_error', message: data }];
    return this.#chunk(chunk, 'delta');
  }

  end(): readonly ModelEvent[] {
    const stop = this.#stop;
    if (stop === null) return NOTHING;
    this.#stop = null;
    return [{ kind: 'stop', ...stop }];
  }

  whole(answer: unknown): readonly ModelEvent[] {
    if (!isObject(answer)) return [{ kind: 'unknown', what: 'a body that is not a JSON object' }];
    const failure = chatFailure(answer);
    if (failure !== null) return [{ kind: 'error', ...failure }];
    return [...this.#chunk(answer, 'message'), ...this.end()];
  }

  #chunk(chunk: JsonObject, member: 'delta' | 'message'): readonly ModelEvent[] {
    const events: ModelEvent[] = [];
    if (this.#id === null) events.push(this.#start(chunk));
    for (const choice of listOf(chunk['choices'])) this.#choice(events, choice, member);
    const usage = chatUsage(chunk['usage']);
    if (usage !== null) events.push({ kind: 'usage', usage });
    return events;
  }

  #start({ id, model, created }: JsonObject): ModelEvent {
    this.#id = typeof id === 'string' ? id : '';
    return {
      kind: 'start',
      id: this.#id,
      model: typeof model === 'string' ? model : '',
      createdS: typeof created === 'number' ? created : null,
    };
  }

  #choice(events: ModelEvent[], choice: unknown, member: 'delta' | 'message'): void {
    if (!isObject(choice)) return;
    if ((choice['index'] ?? 0) !== 0) events.push({ kind: 'unknown', what: 'more than one choice' });
    const message = choice[member];
    if (isObject(message)) this.#message(events, message);
    const reason = choice['finish_reason'];
    if (reason === null || reason === undefined) return;
    const known = typeof reason === 'string' ? this.#stopReason(reason) : null;
    if (known === null) events.push({ kind: 'unknown', what: `the finish reason ${String(reason)}` });
    else this.#stop = { reason: known, sequence: stopSequence(choice) };
  }

  #message(events: ModelEvent[], message: JsonObject): void {
    const thought = message['reasoning_content'] ?? message['reasoning'];
    if (typeof thought === 'string' && thought !== '') events.push({ kind: 'thinking', text: thought });
    const { content, refusal, tool_calls: calls } = message;
    if (typeof content === 'string') {
      if (content !== '') events.push({ kind: 'text', text: content });
    } else addParts(events, content);
    if (typeof refusal === 'string' && refusal !== '') {
      this.#refused = true;
      events.push({ kind: 'refusal', text: refusal });
    }
    if (Array.isArray(calls)) for (const call of calls) this.#toolCall(events, call);
    for (const name in message)
      if (!READ_MEMBERS.has(name) && !isEmpty(message[name]))
        events.push({ kind: 'unknown', what: `the message member ${name}` });
  }

  #toolCall(events: ModelEvent[], given: unknown): void {
    if (!isObject(given)) return;
    const called = given['function'];
    if (!isObject(called) || (given['type'] ?? 'function') !== 'function') {
      events.push({ kind: 'unknown', what: 'a tool call that does not call a function' });
      return;
    }
    const { name, arguments: text } = called;
    const call = this.#callOf(events, given, typeof name === 'string' ? name : '');
    // Some providers write the input as an object.
    const json = isObject(text) ? JSON.stringify(text) : text;
    if (typeof json === 'string' && json !== '') events.push({ kind: 'tool_input', call, json });
  }

  /** Some providers leave the index out, or give every call the same one; a new id is then a new call. */
  #callOf(events: ModelEvent[], { index, id }: JsonObject, name: string): number {
    const last = this.#calls.length - 1;
    const at = typeof index === 'number' ? index : null;
    const known = at === null ? last : (this.#callAt.get(at) ?? -1);
    const givenId = typeof id === 'string' && id !== '' ? id : null;
    const isSame = givenId === null ? at !== null || name === '' : this.#calls[known] === givenId;
    if (known >= 0 && isSame) return known;
    const call = this.#calls.length;
    const callId = givenId ?? `call_${this.#id ?? ''}_${call}`;
    this.#calls.push(callId);
    if (at !== null) this.#callAt.set(at, call);
    events.push({ kind: 'tool_call', call, id: callId, name });
    return call;
  }

  /** A forced call ends with `stop`, and so does a refusal. */
  #stopReason(reason: string): StopReason | null {
    if (reason === 'stop' && this.#calls.length > 0) return 'tool_calls';
    if (reason === 'stop' && this.#refused) return 'refusal';
    return Object.hasOwn(STOP_REASONS, reason) ? (STOP_REASONS[reason] ?? null) : null;
  }
}

/** Some compatible providers say which sequence it was. */
function stopSequence(choice: JsonObject): string | null {
  const given = choice['stop_reason'];
  return choice['finish_reason'] === 'stop' && typeof given === 'string' ? given : null;
}

/** Content in parts: text, and the thinking of providers that write it there. */
function addParts(events: ModelEvent[], content: unknown): void {
  if (content === null || content === undefined) return;
  if (!Array.isArray(content)) {
    events.push({ kind: 'unknown', what: 'content that is not text' });
    return;
  }
  for (const part of content) {
    const { type, text, thinking } = isObject(part) ? part : {};
    if (type === 'text' && typeof text === 'string') events.push({ kind: 'text', text });
    else if (type === 'thinking' && Array.isArray(thinking))
      for (const piece of thinking)
        if (isObject(piece) && typeof piece['text'] === 'string')
          events.push({ kind: 'thinking', text: piece['text'] });
        else events.push({ kind: 'unknown', what: 'thinking that is not text' });
    else events.push({ kind: 'unknown', what: `content of the type ${String(type)}` });
  }
}

function isEmpty(value: unknown): boolean {
  return (
    value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
  );
}

/** Prompt tokens include what was read from a cache and what was written to it. */
function chatUsage(usage: unknown): Partial<ReportedUsage> | null {
  if (!isObject(usage)) return null;
  const input = isObject(usage['prompt_tokens_details']) ? usage['prompt_tokens_details'] : {};
  const output = isObject(usage['completion_tokens_details']) ? usage['completion_tokens_details'] : {};
  return tokenCounts({
    inputTokens: usage['prompt_tokens'],
    outputTokens: usage['completion_tokens'],
    cacheReadTokens: input['cached_tokens'],
    cacheWriteTokens: input['cache_write_tokens'],
    reasoningTokens: output['reasoning_tokens'],
  });
}
