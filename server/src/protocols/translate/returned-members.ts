import { type JsonObject, listOf } from '../../kit/json-value.ts';
import { toolUseId } from './chat-to-messages/tool-use-id.ts';
import { type FieldSorter, withoutUndefined } from './field-sorter.ts';
import type { CarriedMembers } from './seal.ts';
import { shortCallId } from './tool-names.ts';

/** What one message of an assistant has to take back to the chat provider that made it. */
export class ReturnedMembers {
  #message: JsonObject = {};
  readonly #calls = new Map<string, JsonObject>();
  #thinking = '';
  readonly #thinkingPaths: string[] = [];

  add({ message = {}, calls = {} }: CarriedMembers): void {
    const details = [...listOf(this.#message['reasoning_details']), ...listOf(message['reasoning_details'])];
    this.#message = {
      ...this.#message,
      ...message,
      ...(details.length === 0 ? {} : { reasoning_details: details }),
    };
    for (const [id, members] of Object.entries(calls))
      this.#calls.set(id, { ...this.#calls.get(id), ...members });
  }

  think(text: string, path: string): void {
    this.#thinking += text;
    this.#thinkingPaths.push(path);
  }

  /** Shortens the ids of calls. Providers want their thinking back with the calls that it led to; some reject it elsewhere. */
  into(sorter: FieldSorter, message: JsonObject): JsonObject {
    const calls = listOf(message['tool_calls']) as readonly JsonObject[];
    if (calls.length === 0) for (const path of this.#thinkingPaths) sorter.leaveOut(path);
    return withoutUndefined({
      ...message,
      ...this.#message,
      reasoning_content: calls.length === 0 || this.#thinking === '' ? undefined : this.#thinking,
      tool_calls:
        calls.length === 0
          ? undefined
          : calls.map((call) => {
              const id = String(call['id']);
              return { ...call, id: shortCallId(id), ...this.#calls.get(toolUseId(id)) };
            }),
    });
  }
}
