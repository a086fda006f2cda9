import { type JsonObject, parseObject } from '../../../../kit/json-value.ts';
import type { DeclaredTool } from '../../from-responses/tool-names.ts';
import { CustomInput } from './custom-input.ts';
import { announce, conclude, type ItemPlace, type ItemStatus, type OutputItem } from './output-item.ts';

export interface Call {
  readonly callId: string;
  /** As the provider wrote it. */
  readonly name: string;
  /** What the client declared under that name. */
  readonly tool: DeclaredTool | undefined;
}

/** A call of a function, whose input is JSON. */
export class FunctionCallItem implements OutputItem {
  done: JsonObject | null = null;
  readonly #place: ItemPlace;
  readonly #call: Call;
  #arguments = '';

  constructor(place: ItemPlace, call: Call) {
    this.#place = place;
    this.#call = call;
    announce(place, this.#item('in_progress'));
  }

  add(delta: string): void {
    this.#arguments += delta;
    const { say, id, index } = this.#place;
    say('response.function_call_arguments.delta', { item_id: id, output_index: index, delta });
  }

  close(given: ItemStatus): void {
    // Messages write no input for a function without parameters, and clients parse what they get.
    if (this.#arguments === '' && given === 'completed') this.add('{}');
    const status = statusOf(given, this.#arguments);
    const { say, id, index } = this.#place;
    this.done = this.#item(status);
    say('response.function_call_arguments.done', {
      item_id: id,
      output_index: index,
      arguments: this.#arguments,
    });
    conclude(this.#place, this.done);
  }

  #item(status: ItemStatus | 'in_progress'): JsonObject {
    const { callId } = this.#call;
    const said = { call_id: callId, ...called(this.#call) };
    return { id: this.#place.id, type: 'function_call', status, arguments: this.#arguments, ...said };
  }
}

/** A call of a custom tool, whose input is text; the provider was given a function with one string. */
export class CustomCallItem implements OutputItem {
  done: JsonObject | null = null;
  readonly #place: ItemPlace;
  readonly #call: Call;
  readonly #input = new CustomInput();
  #said = '';

  constructor(place: ItemPlace, call: Call) {
    this.#place = place;
    this.#call = call;
    announce(place, this.#item('in_progress', ''));
  }

  add(json: string): void {
    this.#say(this.#input.add(json));
  }

  close(given: ItemStatus): void {
    const input = this.#input.whole();
    const status = statusOf(given, this.#input.json);
    this.#say(input.slice(this.#said.length));
    const { say, id, index } = this.#place;
    this.done = this.#item(status, input);
    say('response.custom_tool_call_input.done', { item_id: id, output_index: index, input });
    conclude(this.#place, this.done);
  }

  #say(delta: string): void {
    if (delta === '') return;
    this.#said += delta;
    const { say, id, index } = this.#place;
    say('response.custom_tool_call_input.delta', { item_id: id, output_index: index, delta });
  }

  #item(status: ItemStatus | 'in_progress', input: string): JsonObject {
    const { callId } = this.#call;
    return {
      id: this.#place.id,
      type: 'custom_tool_call',
      status,
      call_id: callId,
      input,
      ...called(this.#call),
    };
  }
}

/** Of several calls, the model was cut off in the last one. */
function statusOf(given: ItemStatus, json: string): ItemStatus {
  return given === 'incomplete' && parseObject(json) !== null ? 'completed' : given;
}

/** A name that the client did not declare stays as the model wrote it. */
function called({ name, tool }: Call): JsonObject {
  if (tool === undefined) return { name };
  return tool.namespace === null ? { name: tool.name } : { name: tool.name, namespace: tool.namespace };
}
