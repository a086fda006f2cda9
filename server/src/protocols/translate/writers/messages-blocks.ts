import { objectSource } from '../../../kit/json-source.ts';
import type { Failure } from '../failure.ts';
import type { ModelEvent } from '../model-events.ts';
import { sealed, UNSIGNED } from '../seal.ts';
import { type Block, redactedBlock, textBlock, thinkingBlock, toolUseBlock } from './messages-shapes.ts';

interface OpenBlock {
  readonly type: Block['type'];
  text: string;
  signature: string | null;
  /** In place of a signature. */
  unsigned: string;
  readonly id: string;
  readonly name: string;
}

/** The content of a whole message. `cutShort`: the output limit may have ended the answer within a tool's input. */
export function messageBlocks(
  events: readonly ModelEvent[],
  cutShort: boolean,
  maker: string,
): { readonly blocks: readonly Block[] } | Failure {
  const open: OpenBlock[] = [];
  const calls: OpenBlock[] = [];
  let last: OpenBlock | null = null;
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
      open.push(last);
    }
    if (event.kind === 'tool_call') calls[event.call] = last;
    addTo(last, event, maker);
  }
  const blocks: Block[] = [];
  for (const block of open) {
    const written = blockOf(block, cutShort);
    if (written === null) return notAnObject(block.id);
    blocks.push(written);
  }
  return { blocks };
}

function notAnObject(id: string): Failure {
  const what = `the input of tool call ${id} is not a JSON object`;
  return { type: 'api_error', message: `The provider's response is invalid: ${what}.`, why: what };
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

function continues(last: OpenBlock, type: Block['type']): boolean {
  return last.type === type && (type === 'text' || (type === 'thinking' && last.signature === null));
}

function blockFor(event: ModelEvent, type: Block['type']): OpenBlock {
  const { id, name } = event.kind === 'tool_call' ? event : { id: '', name: '' };
  return { type, text: '', signature: null, unsigned: UNSIGNED, id, name };
}

function addTo(block: OpenBlock, event: ModelEvent, maker: string): void {
  if (event.kind === 'thinking_signature') block.signature = event.signature;
  else if (event.kind === 'redacted_thinking') block.text = event.data;
  else if (event.kind === 'text' || event.kind === 'refusal' || event.kind === 'thinking')
    block.text += event.text;
  if (event.kind === 'thinking' && event.isReturned === true)
    block.unsigned = sealed(maker, { kind: 'text' });
}

function blockOf({ type, text, signature, unsigned, id, name }: OpenBlock, cutShort: boolean): Block | null {
  switch (type) {
    case 'text':
      return textBlock(text);
    case 'thinking':
      return thinkingBlock(text, signature ?? unsigned);
    case 'redacted_thinking':
      return redactedBlock(text);
    case 'tool_use': {
      const input = text === '' ? {} : objectSource(text);
      if (input === null && !cutShort) return null;
      return toolUseBlock(id, name, input ?? {});
    }
  }
}
