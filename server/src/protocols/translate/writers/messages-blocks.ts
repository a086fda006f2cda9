import { type JsonObject, parseObject } from '../../../kit/json-value.ts';
import { toolUseId } from '../chat-to-messages/tool-use-id.ts';
import type { Failure, ModelEvent } from '../model-events.ts';
import { UNSIGNED } from './messages-open-block.ts';

interface Block {
  readonly type: 'text' | 'thinking' | 'redacted_thinking' | 'tool_use';
  text: string;
  signature: string | null;
  readonly id: string;
  readonly name: string;
}

/** The content of a whole message. `cutShort`: the output limit may have ended the answer within a tool's input. */
export function messageBlocks(
  events: readonly ModelEvent[],
  cutShort: boolean,
): { readonly content: readonly JsonObject[] } | Failure {
  const blocks: Block[] = [];
  const calls: Block[] = [];
  let last: Block | null = null;
  for (const event of events) {
    if (event.kind === 'tool_input') {
      const call = calls[event.call];
      if (call !== undefined) call.text += event.json;
      continue;
    }
    if (event.kind === 'part_end') last = null;
    const type = typeOf(event);
    if (type === null) continue;
    if (last === null || !continues(last, type)) {
      last = blockFor(event, type);
      blocks.push(last);
    }
    if (event.kind === 'tool_call') calls[event.call] = last;
    addTo(last, event);
  }
  const content: JsonObject[] = [];
  for (const block of blocks) {
    const written = blockOf(block, cutShort);
    if (written === null)
      return { type: 'api_error', message: `The input of tool call ${block.id} is not a JSON object.` };
    content.push(written);
  }
  return { content };
}

function typeOf({ kind }: ModelEvent): Block['type'] | null {
  switch (kind) {
    case 'text':
    case 'refusal':
      return 'text';
    case 'thinking':
    case 'thinking_signature':
      return 'thinking';
    case 'redacted_thinking':
      return 'redacted_thinking';
    case 'tool_call':
      return 'tool_use';
    default:
      return null;
  }
}

function continues(last: Block, type: Block['type']): boolean {
  return last.type === type && (type === 'text' || (type === 'thinking' && last.signature === null));
}

function blockFor(event: ModelEvent, type: Block['type']): Block {
  const { id, name } = event.kind === 'tool_call' ? event : { id: '', name: '' };
  return { type, text: '', signature: null, id, name };
}

function addTo(block: Block, event: ModelEvent): void {
  if (event.kind === 'thinking_signature') block.signature = event.signature;
  else if (event.kind === 'redacted_thinking') block.text = event.data;
  else if (event.kind === 'text' || event.kind === 'refusal' || event.kind === 'thinking')
    block.text += event.text;
}

function blockOf(block: Block, cutShort: boolean): JsonObject | null {
  const { type, text, signature, id, name } = block;
  switch (type) {
    case 'text':
      return { type, text };
    case 'thinking':
      return { type, thinking: text, signature: signature ?? UNSIGNED };
    case 'redacted_thinking':
      return { type, data: text };
    case 'tool_use': {
      const input = text === '' ? {} : parseObject(text);
      if (input === null && !cutShort) return null;
      return { type, id: toolUseId(id), name, input: input ?? {} };
    }
  }
}
