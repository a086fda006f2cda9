import { KEPT, parsedValue, parseObjectKeeping } from '../../../kit/json-source.ts';
import {
  isEmpty,
  isObject,
  type JsonObject,
  listOf,
  objectOf,
  parseObject,
} from '../../../kit/json-value.ts';
import type { AnswerReader, ModelEvent, ReportedUsage, StopReason } from '../model-events.ts';
import { failureOfBody, statedFailure } from '../provider-failure.ts';
import { inputText } from '../tool-input.ts';
import { CarriedByChat } from './carried-members.ts';
import { probabilitiesIn } from './probabilities.ts';
import { tokenCounts } from './token-counts.ts';

const NOTHING: readonly ModelEvent[] = [];
/** Of an error in a stream without words. */
const ERROR_STATUS = 502;
const PING: readonly ModelEvent[] = [{ kind: 'ping' }];

const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  stop: 'end',
  // What some compatible providers call it: older TGI, and servers that speak of tokens.
  eos: 'end',
  eos_token: 'end',
  stop_sequence: 'end',
  length: 'length',
  // Mistral, when the model's context is full.
  model_length: 'length',
  tool_calls: 'tool_calls',
  content_filter: 'content_filter',
};

/** The input of calls, which some providers write as an object. */
const CALLS = { tool_calls: [{ function: { arguments: KEPT } }] } as const;
const CHUNK_SOURCES = { choices: [{ delta: CALLS }] } as const;

/** Members of a message that are read below. */
const READ_MEMBERS: ReadonlySet<string> = new Set([
  'role',
  'content',
  'refusal',
  'tool_calls',
  'reasoning_content',
  'reasoning',
]);
/** Members with content that neither other protocol has. */
const CONTENT_MEMBERS: ReadonlySet<string> = new Set(['audio', 'images', 'videos', 'function_call']);
const CALL_MEMBERS: ReadonlySet<string> = new Set(['index', 'id', 'type', 'function']);

interface Stop {
  readonly reason: StopReason;
  readonly sequence: string | null;
}

/**
 * Reads chat completions. Members of the message that are not known are named as left out; members around it (fingerprints, timings,
 * a router's notes) are not part of the answer.
 */
export class ChatReader implements AnswerReader {
  readonly sources = { choices: [{ message: CALLS }] } as const;
  #id: string | null = null;
  #stop: Stop | null = null;
  #refused = false;
  #hasChoice = false;
  /** Thinking that was shown, or text: what is said of the reasoning comes between them. */
  #hasThought = false;
  #hasText = false;
  readonly #carried = new CarriedByChat();
  readonly #requestId: string;
  readonly #readsProbabilities: boolean;

  constructor(requestId: string, { probabilities = false } = {}) {
    this.#requestId = requestId;
    this.#readsProbabilities = probabilities;
  }
  /** The ids of the calls so far; a call's place is its number. */
  readonly #calls: string[] = [];
  /** The call that was last begun at an index of the provider's. */
  readonly #callAt = new Map<number, number>();

  frame(event: string | null, data: string): readonly ModelEvent[] {
    // A comment, which keeps the connection open while the model thinks.
    if (data === '') return PING;
    if (data === '[DONE]') return this.#done();
    const chunk = data.includes('"tool_calls"') ? parseObjectKeeping(data, CHUNK_SOURCES) : parseObject(data);
    if (chunk === null) return [{ kind: 'unknown', what: 'an event that is not a JSON object' }];
    const failure = statedFailure(chunk);
    if (failure !== null) return [{ kind: 'error', failure }];
    if (event === 'error') return [{ kind: 'error', failure: failureOfBody(data, ERROR_STATUS) }];
    return this.#chunk(chunk, 'delta');
  }

  end(): readonly ModelEvent[] {
    const stop = this.#stop;
    if (stop === null) return NOTHING;
    this.#stop = null;
    const rest = this.#calls.length > 0 ? this.#carried.flush() : this.#carried.leaveOut();
    return [...rest, { kind: 'stop', ...stop }];
  }

  /** Some providers say the end without a reason. */
  #done(): readonly ModelEvent[] {
    if (!this.#hasChoice) return [{ kind: 'unknown', what: 'no choices' }];
    const reason = this.#stopReason('stop') ?? 'end';
    this.#stop ??= { reason, sequence: null };
    return this.end();
  }

  whole(answer: unknown): readonly ModelEvent[] {
    if (!isObject(answer)) return [{ kind: 'unknown', what: 'a body that is not a JSON object' }];
    const failure = statedFailure(answer);
    if (failure !== null) return [{ kind: 'error', failure }];
    const events = this.#chunk(answer, 'message');
    return this.#hasChoice ? [...events, ...this.#done()] : [{ kind: 'unknown', what: 'no choices' }];
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
    if (this.#readsProbabilities) events.push(...probabilitiesIn(choice['logprobs']));
    if (isObject(message)) {
      this.#hasChoice = true;
      this.#message(events, message);
    }
    const reason = choice['finish_reason'];
    // Some providers have an empty one in every chunk but the last.
    if (reason === null || reason === undefined || reason === '') return;
    this.#hasChoice ||= member === 'delta';
    const known = typeof reason === 'string' ? this.#stopReason(reason) : null;
    if (known === null) events.push({ kind: 'unknown', what: `the finish reason ${String(reason)}` });
    else this.#stop = { reason: known, sequence: stopSequence(choice) };
  }

  #message(events: ModelEvent[], message: JsonObject): void {
    this.#thinking(events, message);
    const { content, refusal, tool_calls: calls } = message;
    // Collected first: a call may come with the reasoning that it needs.
    this.#others(events, message);
    if (typeof content === 'string') {
      if (content !== '') this.#text(events, content);
    } else this.#parts(events, content);
    if (typeof refusal === 'string' && refusal !== '') {
      this.#refused = true;
      events.push({ kind: 'refusal', text: refusal });
    }
    if (Array.isArray(calls)) for (const call of calls) this.#toolCall(events, call);
  }

  /** `reasoning_content` is the name under which providers want it back. */
  #thinking(events: ModelEvent[], { reasoning_content: returned, reasoning }: JsonObject): void {
    if (typeof returned === 'string' && returned !== '')
      this.#thought(events, { kind: 'thinking', text: returned, isReturned: true });
    else if (typeof reasoning === 'string' && reasoning !== '')
      this.#thought(events, { kind: 'thinking', text: reasoning });
  }

  #thought(events: ModelEvent[], thought: ModelEvent): void {
    this.#hasThought = true;
    events.push(thought);
  }

  #text(events: ModelEvent[], text: string): void {
    if (this.#hasThought && !this.#hasText) events.push(...this.#carried.flushDetails());
    this.#hasText = true;
    events.push({ kind: 'text', text });
  }

  #others(events: ModelEvent[], message: JsonObject): void {
    for (const [name, value] of Object.entries(message)) {
      if (READ_MEMBERS.has(name) || isEmpty(value) || this.#carried.takeFromMessage(name, value)) continue;
      if (CONTENT_MEMBERS.has(name)) events.push({ kind: 'unknown', what: `the message member ${name}` });
      else events.push({ kind: 'left_out', what: `message.${name}` });
    }
  }

  /** Content in parts: text, and the thinking of providers that write it there. */
  #parts(events: ModelEvent[], content: unknown): void {
    if (content === null || content === undefined) return;
    if (!Array.isArray(content)) {
      events.push({ kind: 'unknown', what: 'content that is not text' });
      return;
    }
    for (const part of content) {
      const { type, text, thinking } = objectOf(part);
      if (type === 'text' && typeof text === 'string') this.#text(events, text);
      else if (type === 'thinking' && Array.isArray(thinking))
        for (const piece of thinking)
          if (isObject(piece) && typeof piece['text'] === 'string')
            this.#thought(events, { kind: 'thinking', text: piece['text'] });
          else events.push({ kind: 'unknown', what: 'thinking that is not text' });
      else events.push({ kind: 'unknown', what: `content of the type ${String(type)}` });
    }
  }

  #toolCall(events: ModelEvent[], given: unknown): void {
    if (!isObject(given)) return;
    const called = given['function'];
    if (!isObject(called) || (given['type'] ?? 'function') !== 'function') {
      events.push({ kind: 'unknown', what: 'a tool call that does not call a function' });
      return;
    }
    const { name, arguments: text } = called;
    const begun = this.#callOf(given, typeof name === 'string' ? name : '');
    const { call } = begun;
    const members = Object.entries(given).filter(
      ([member, value]) => !CALL_MEMBERS.has(member) && !isEmpty(value),
    );
    for (const member of this.#carried.takeFromCall(this.#calls[call] ?? '', Object.fromEntries(members)))
      events.push({ kind: 'left_out', what: `message.tool_calls.${member}` });
    if (begun.event !== null) events.push(...this.#carried.flush(), begun.event);
    const json = argumentsText(text);
    if (json !== '') events.push({ kind: 'tool_input', call, json });
  }

  /** Some providers leave the index out, or give every call the same one; a new id is then a new call. */
  #callOf(
    { index, id }: JsonObject,
    name: string,
  ): { readonly call: number; readonly event: ModelEvent | null } {
    const last = this.#calls.length - 1;
    const at = typeof index === 'number' ? index : null;
    const known = at === null ? last : (this.#callAt.get(at) ?? -1);
    const givenId = typeof id === 'string' && id !== '' ? id : null;
    const isSame = givenId === null ? at !== null || name === '' : this.#calls[known] === givenId;
    if (known >= 0 && isSame) return { call: known, event: null };
    const call = this.#calls.length;
    // Clients tell the calls of a whole conversation apart by their ids.
    const callId = givenId ?? `call_${this.#id || this.#requestId}_${call}`;
    this.#calls.push(callId);
    if (at !== null) this.#callAt.set(at, call);
    return { call, event: { kind: 'tool_call', call, id: callId, name } };
  }

  /** A forced call ends with `stop`, and so does a refusal. */
  #stopReason(reason: string): StopReason | null {
    if (reason === 'stop' && this.#calls.length > 0) return 'tool_calls';
    if (reason === 'stop' && this.#refused) return 'refusal';
    return Object.hasOwn(STOP_REASONS, reason) ? (STOP_REASONS[reason] ?? null) : null;
  }
}

/** The text in a string, or of the object itself. */
function argumentsText(given: unknown): string {
  const value = parsedValue(given);
  if (isObject(value)) return inputText(given);
  return typeof value === 'string' ? value : '';
}

/** Some compatible providers say which sequence it was. */
function stopSequence(choice: JsonObject): string | null {
  const given = choice['stop_reason'];
  return choice['finish_reason'] === 'stop' && typeof given === 'string' ? given : null;
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
