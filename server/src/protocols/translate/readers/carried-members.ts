import { isObject, type JsonObject, listOf } from '../../../kit/json-value.ts';
import { toolUseId } from '../chat-to-messages/tool-use-id.ts';
import type { ModelEvent } from '../model-events.ts';
import type { CarriedMembers } from '../seal.ts';

/** Members of a message and of a call that providers want back, beside those that every chat has. */
export const CARRIED_OF_MESSAGE: ReadonlySet<string> = new Set(['reasoning_details', 'extra_content']);
export const CARRIED_OF_CALL: ReadonlySet<string> = new Set(['extra_content', 'provider_specific_fields']);
/** The parts of a streamed detail that arrive in pieces. */
const PIECES = ['text', 'summary'] as const;

/**
 * Collects what a chat provider wants back: Gemini's and LiteLLM's signatures of calls, OpenRouter's reasoning. Providers demand it
 * where calls are, so it is said before the first call that follows it, and without calls only beside thinking that is shown: some
 * clients read the first or last part of a response as its text.
 */
export class CarriedByChat {
  #details: JsonObject[] = [];
  #message: Record<string, unknown> = {};
  #calls: Record<string, JsonObject> = {};

  /** Whether the member of the message is one of these. */
  takeFromMessage(name: string, value: unknown): boolean {
    if (!CARRIED_OF_MESSAGE.has(name)) return false;
    if (name !== 'reasoning_details') this.#message[name] = value;
    else for (const detail of listOf(value)) if (isObject(detail)) addDetail(this.#details, detail);
    return true;
  }

  /** Returns the names of the other members. */
  takeFromCall(id: string, members: JsonObject): readonly string[] {
    const others: string[] = [];
    for (const [name, value] of Object.entries(members))
      if (!CARRIED_OF_CALL.has(name)) others.push(name);
      else this.#calls[toolUseId(id)] = { ...this.#calls[toolUseId(id)], [name]: value };
    return others;
  }

  /** Everything so far, as an event; none where there is nothing. */
  flush(): readonly ModelEvent[] {
    const names = this.#names;
    if (names.length === 0) return [];
    const details = this.#details.length === 0 ? {} : { reasoning_details: this.#details };
    const members: CarriedMembers = { message: { ...this.#message, ...details }, calls: this.#calls };
    this.#drop();
    return [{ kind: 'carried', members }];
  }

  /** Only the reasoning, which belongs before the text. */
  flushDetails(): readonly ModelEvent[] {
    if (this.#details.length === 0) return [];
    const members: CarriedMembers = { message: { reasoning_details: this.#details } };
    this.#details = [];
    return [{ kind: 'carried', members }];
  }

  /** What is left is not sent. */
  leaveOut(): readonly ModelEvent[] {
    const names = this.#names;
    this.#drop();
    return names.map((name) => ({ kind: 'left_out', what: name }));
  }

  get #names(): readonly string[] {
    return [
      ...(this.#details.length === 0 ? [] : ['message.reasoning_details']),
      ...Object.keys(this.#message).map((name) => `message.${name}`),
      ...Object.values(this.#calls).flatMap((members) =>
        Object.keys(members).map((name) => `message.tool_calls.${name}`),
      ),
    ];
  }

  #drop(): void {
    this.#details = [];
    this.#message = {};
    this.#calls = {};
  }
}

/** OpenRouter wants the details in one piece each, with the members that came with any of the pieces. */
function addDetail(details: JsonObject[], detail: JsonObject): void {
  const last = details.at(-1);
  const piece = PIECES.find((name) => typeof detail[name] === 'string');
  const continues =
    last !== undefined &&
    last['type'] === detail['type'] &&
    (last['index'] ?? null) === (detail['index'] ?? null) &&
    ((last['id'] ?? null) === null || (detail['id'] ?? null) === null || last['id'] === detail['id']) &&
    detail['data'] === undefined;
  if (!continues) {
    details.push(detail);
    return;
  }
  const said = Object.entries(detail).filter(([, value]) => value !== null);
  const whole =
    piece === undefined ? {} : { [piece]: `${String(last[piece] ?? '')}${String(detail[piece])}` };
  details[details.length - 1] = { ...last, ...Object.fromEntries(said), ...whole };
}
