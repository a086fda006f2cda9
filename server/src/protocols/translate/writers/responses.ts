import { writeJson } from '../../../kit/json-source.ts';
import { type JsonObject, listOf, objectOf } from '../../../kit/json-value.ts';
import { responsesError } from '../error-shapes.ts';
import type { Failure } from '../failure.ts';
import { asksForProbabilities } from '../from-responses/settings.ts';
import { type DeclaredTool, declaredTools } from '../from-responses/tool-names.ts';
import {
  type AnswerWriter,
  failureIn,
  failureOf,
  type ModelEvent,
  type ReportedUsage,
  type StopReason,
  type TokenProbability,
} from '../model-events.ts';
import { type Sealed, sealed } from '../seal.ts';
import type { WriterOptions } from '../translation.ts';
import { CustomCallItem, FunctionCallItem } from './responses/call-items.ts';
import { MessageItem } from './responses/message-item.ts';
import type { ItemPlace, OutputItem } from './responses/output-item.ts';
import { ReasoningItem } from './responses/reasoning-item.ts';
import { repeatedSettings, usageMember } from './responses/response-object.ts';

const ENCRYPTED_REASONING = 'reasoning.encrypted_content';

/** Response statuses with the events that announce them. */
type Outcome = 'completed' | 'incomplete' | 'failed';

/**
 * Writes an answer as OpenAI's Responses do. Ids are made from the request's id, so that two writers of one answer agree. Calls stay
 * open until the answer ends, because parts of several may alternate.
 * https://platform.openai.com/docs/api-reference/responses-streaming
 */
export class ResponsesWriter implements AnswerWriter {
  failure: Failure | null = null;
  readonly #options: WriterOptions;
  readonly #id: string;
  readonly #tools: ReadonlyMap<string, DeclaredTool>;
  readonly #settings: JsonObject;
  readonly #returnsThinking: boolean;
  readonly #showsProbabilities: boolean;
  /** Of the text that comes next. */
  readonly #probabilities: TokenProbability[] = [];
  readonly #items: OutputItem[] = [];
  readonly #calls = new Map<number, FunctionCallItem | CustomCallItem>();
  #current: MessageItem | ReasoningItem | null = null;
  #createdS: number | null = null;
  #usage: Partial<ReportedUsage> = {};
  #refused = false;
  #response: JsonObject | null = null;
  #sequence = 0;
  #frames = '';

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#id = options.requestId.replace(/^req_/, '');
    this.#tools = declaredTools(options.request);
    this.#settings = repeatedSettings(options);
    this.#showsProbabilities = asksForProbabilities(objectOf(options.request));
    this.#returnsThinking = listOf(objectOf(options.request)['include']).includes(ENCRYPTED_REASONING);
  }

  frames(events: readonly ModelEvent[]): string {
    this.#frames = '';
    for (const event of events) if (this.#response === null) this.#write(event);
    return this.#frames;
  }

  whole(events: readonly ModelEvent[]): unknown {
    this.failure = failureIn(events);
    if (this.failure !== null) return { error: responsesError(this.failure, null) };
    this.frames(events);
    return this.#response ?? this.#finish('completed');
  }

  #write(event: ModelEvent): void {
    const failure = failureOf(event);
    if (failure !== null) this.#fail(failure);
    else if (event.kind === 'ping') this.#keepAlive();
    else if (event.kind === 'usage') this.#usage = { ...this.#usage, ...event.usage };
    else {
      this.#begin(event.kind === 'start' ? event.createdS : null);
      this.#writeOutput(event);
    }
  }

  #writeOutput(event: ModelEvent): void {
    switch (event.kind) {
      case 'text':
        if (event.text !== '') this.#message().add('output_text', event.text, this.#probabilities.splice(0));
        break;
      case 'probabilities':
        if (this.#showsProbabilities) this.#probabilities.push(...event.tokens);
        break;
      case 'refusal':
        this.#refused = true;
        if (event.text !== '') this.#message().add('refusal', event.text);
        break;
      case 'part_end':
        if (this.#current instanceof MessageItem) this.#current.endPart();
        else this.#closeCurrent();
        break;
      case 'thinking':
        if (event.text !== '') this.#reasoning().add(event.text);
        if (event.isReturned === true) this.#reasoning().seal(sealed(this.#options.maker, { kind: 'text' }));
        break;
      case 'thinking_signature':
        this.#seal({ kind: 'thinking', signature: event.signature });
        break;
      case 'redacted_thinking':
        this.#closeCurrent();
        this.#seal({ kind: 'redacted_thinking', data: event.data });
        break;
      case 'carried':
        this.#closeCurrent();
        this.#carry({ kind: 'members', members: event.members });
        break;
      case 'tool_call':
        this.#openCall(event);
        break;
      case 'tool_input':
        if (event.json !== '') this.#calls.get(event.call)?.add(event.json);
        break;
      case 'stop':
        this.#stop(event.reason);
        break;
      default:
        break;
    }
  }

  #message(): MessageItem {
    if (this.#current instanceof MessageItem) return this.#current;
    this.#closeCurrent();
    const item = new MessageItem(this.#place('msg'));
    this.#items.push(item);
    this.#current = item;
    return item;
  }

  #reasoning(): ReasoningItem {
    if (this.#current instanceof ReasoningItem) return this.#current;
    this.#closeCurrent();
    const item = new ReasoningItem(this.#place('rs'));
    this.#items.push(item);
    this.#current = item;
    return item;
  }

  /** Ends the reasoning item: providers sign each of their thinking blocks. */
  #seal(thinking: Sealed): void {
    this.#reasoning().seal(this.#returnsThinking ? sealed(this.#options.maker, thinking) : null);
    this.#closeCurrent();
  }

  /** The provider rejects the next request without it, whether or not the client asked for encrypted reasoning. */
  #carry(members: Sealed): void {
    this.#reasoning().seal(sealed(this.#options.maker, members));
    this.#closeCurrent();
  }

  #openCall({ call, id, name }: ModelEvent & { readonly kind: 'tool_call' }): void {
    this.#closeCurrent();
    const tool = this.#tools.get(name);
    const index = this.#items.length;
    const said = { callId: id === '' ? `call_${this.#id}_${index}` : id, name, tool };
    const item =
      tool?.type === 'custom'
        ? new CustomCallItem(this.#place('ctc'), said)
        : new FunctionCallItem(this.#place('fc'), said);
    this.#items.push(item);
    this.#calls.set(call, item);
  }

  #place(prefix: string): ItemPlace {
    const index = this.#items.length;
    const say = (type: string, members: JsonObject): void => this.#say(type, members);
    return { say, index, id: `${prefix}_${this.#id}_${index}` };
  }

  #closeCurrent(): void {
    // The last tokens may have no text, such as a letter that was cut off.
    if (this.#current instanceof MessageItem) this.#current.addTokens(this.#probabilities.splice(0));
    this.#current?.close('completed');
    this.#current = null;
  }

  #stop(reason: StopReason): void {
    if (reason === 'pause') {
      this.#fail({
        type: 'api_error',
        message: 'The provider paused its response, which cannot be translated.',
        why: 'it was paused, which cannot be translated',
      });
      return;
    }
    if (this.#current instanceof MessageItem) this.#current.addTokens(this.#probabilities.splice(0));
    const incomplete = incompleteReason(reason, this.#refused);
    for (const item of this.#items)
      if (item.done === null) item.close(incomplete === null ? 'completed' : 'incomplete');
    this.#finish(incomplete === null ? 'completed' : 'incomplete', {
      incomplete_details: incomplete === null ? null : { reason: incomplete },
    });
  }

  /** Before the stream began there is no response that could have failed. */
  #fail(failure: Failure): void {
    this.failure = failure;
    const { type, code, message } = responsesError(failure, null);
    if (this.#createdS === null) {
      this.#response = {};
      this.#say('error', { code, message, param: null });
    } else this.#finish('failed', { error: { code, message, type } });
  }

  #begin(createdS: number | null): void {
    if (this.#createdS !== null) return;
    this.#createdS = createdS ?? Math.floor(this.#options.nowMs / 1000);
    const response = this.#object('in_progress', {});
    this.#say('response.created', { response });
    this.#say('response.in_progress', { response });
  }

  #finish(outcome: Outcome, details: JsonObject = {}): JsonObject {
    const response = this.#object(outcome, details);
    this.#response = response;
    this.#say(`response.${outcome}`, { response });
    return response;
  }

  #object(status: Outcome | 'in_progress', details: JsonObject): JsonObject {
    const done = this.#items.flatMap(({ done: item }) => (item === null ? [] : [item]));
    return {
      id: `resp_${this.#id}`,
      object: 'response',
      created_at: this.#createdS ?? Math.floor(this.#options.nowMs / 1000),
      status,
      error: null,
      incomplete_details: null,
      ...details,
      output: done,
      ...(status === 'in_progress' ? {} : usageMember(this.#usage)),
      ...this.#settings,
    };
  }

  /** OpenAI's own event, because Codex takes no comment for a sign of life. Clients expect it behind the first event. */
  #keepAlive(): void {
    if (this.#createdS === null) this.#frames += ': ping\n\n';
    else this.#say('keepalive', {});
  }

  #say(type: string, members: JsonObject): void {
    const said = { type, sequence_number: this.#sequence, ...members };
    // A response repeats parts of the request as their source, and a frame has one line.
    const data = 'response' in said ? writeJson(said).replaceAll(/[\r\n]+/g, ' ') : JSON.stringify(said);
    this.#sequence += 1;
    this.#frames += `event: ${type}\ndata: ${data}\n\n`;
  }
}

/** A model that declined without saying so leaves an answer that ends early; only the reason tells the client. */
function incompleteReason(reason: StopReason, refused: boolean): string | null {
  if (reason === 'length') return 'max_output_tokens';
  if (reason === 'content_filter' || (reason === 'refusal' && !refused)) return 'content_filter';
  return null;
}
