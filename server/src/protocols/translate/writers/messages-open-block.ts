import type { ModelEvent } from '../model-events.ts';
import { sealed, UNSIGNED } from '../seal.ts';
import { type Block, redactedBlock, textBlock, thinkingBlock, toolUseBlock } from './messages-shapes.ts';

/** A block of a streamed message between its start and its stop. */
export class OpenBlock {
  readonly #type: Block['type'];
  readonly #index: number;
  /** Of a tool call; -1 for other blocks. */
  readonly #call: number;
  readonly #maker: string;
  #input = '';
  #signed = false;
  /** In place of a signature. */
  #unsigned = UNSIGNED;

  constructor(type: Block['type'], index: number, call: number, maker: string) {
    this.#type = type;
    this.#index = index;
    this.#call = call;
    this.#maker = maker;
  }

  /** Null for an event that does not begin a block. */
  static for(event: ModelEvent, index: number, maker: string): OpenBlock | null {
    switch (event.kind) {
      case 'text':
      case 'refusal':
        return new OpenBlock('text', index, -1, maker);
      case 'thinking':
      case 'thinking_signature':
        return new OpenBlock('thinking', index, -1, maker);
      case 'redacted_thinking':
        return new OpenBlock('redacted_thinking', index, -1, maker);
      case 'tool_call':
        return new OpenBlock('tool_use', index, event.call, maker);
      default:
        return null;
    }
  }

  /** The frames of the event that begins the block. */
  start(event: ModelEvent): string {
    const head = `event: content_block_start\ndata: {"type":"content_block_start","index":${this.#index},"content_block":`;
    return `${head}${JSON.stringify(emptyBlock(event))}}\n\n${this.delta(event)}`;
  }

  /** Whether the event belongs to this block. */
  takes(event: ModelEvent): boolean {
    switch (event.kind) {
      case 'text':
      case 'refusal':
        return this.#type === 'text';
      case 'thinking':
        return this.#type === 'thinking' && !this.#signed;
      case 'thinking_signature':
        return this.#type === 'thinking';
      case 'tool_input':
        return event.call === this.#call;
      default:
        return false;
    }
  }

  delta(event: ModelEvent): string {
    switch (event.kind) {
      case 'text':
      case 'refusal':
        return this.#delta(`{"type":"text_delta","text":${JSON.stringify(event.text)}}`);
      case 'thinking':
        if (event.isReturned === true) this.#unsigned = sealed(this.#maker, { kind: 'text' });
        return this.#delta(`{"type":"thinking_delta","thinking":${JSON.stringify(event.text)}}`);
      case 'thinking_signature':
        return this.#sign(event.signature);
      case 'tool_input':
        this.#input += event.json;
        return this.#delta(`{"type":"input_json_delta","partial_json":${JSON.stringify(event.json)}}`);
      default:
        return '';
    }
  }

  /** False while more of a tool's input has to come. */
  isComplete(): boolean {
    if (this.#type !== 'tool_use') return true;
    try {
      JSON.parse(this.#input);
      return true;
    } catch {
      return false;
    }
  }

  stop(): string {
    const signature = this.#type === 'thinking' && !this.#signed ? this.#sign(this.#unsigned) : '';
    const data = `{"type":"content_block_stop","index":${this.#index}}`;
    return `${signature}event: content_block_stop\ndata: ${data}\n\n`;
  }

  #sign(signature: string): string {
    this.#signed = true;
    return this.#delta(`{"type":"signature_delta","signature":${JSON.stringify(signature)}}`);
  }

  #delta(delta: string): string {
    return `event: content_block_delta\ndata: {"type":"content_block_delta","index":${this.#index},"delta":${delta}}\n\n`;
  }
}

function emptyBlock(event: ModelEvent): Block {
  switch (event.kind) {
    case 'tool_call':
      return toolUseBlock(event.id, event.name, {});
    case 'redacted_thinking':
      return redactedBlock(event.data);
    case 'thinking':
    case 'thinking_signature':
      return thinkingBlock('', '');
    default:
      return textBlock('');
  }
}
