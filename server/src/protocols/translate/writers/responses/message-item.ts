import type { JsonObject } from '../../../../kit/json-value.ts';
import { announce, conclude, type ItemPlace, type ItemStatus, type OutputItem } from './output-item.ts';

type PartKind = 'output_text' | 'refusal';

/** What the model says, in parts. */
export class MessageItem implements OutputItem {
  done: JsonObject | null = null;
  readonly #place: ItemPlace;
  readonly #parts: JsonObject[] = [];
  #open: { readonly kind: PartKind; text: string } | null = null;

  constructor(place: ItemPlace) {
    this.#place = place;
    announce(place, this.#item('in_progress'));
  }

  add(kind: PartKind, delta: string): void {
    if (this.#open?.kind !== kind) this.endPart();
    if (this.#open === null) {
      this.#say('response.content_part.added', { part: part(kind, '') });
      this.#open = { kind, text: '' };
    }
    this.#open.text += delta;
    this.#say(`response.${kind}.delta`, {
      delta,
      ...(kind === 'output_text' ? { logprobs: [] } : {}),
    });
  }

  endPart(): void {
    if (this.#open === null) return;
    const { kind, text } = this.#open;
    this.#say(`response.${kind}.done`, kind === 'refusal' ? { refusal: text } : { text, logprobs: [] });
    this.#say('response.content_part.done', { part: part(kind, text) });
    this.#parts.push(part(kind, text));
    this.#open = null;
  }

  close(status: ItemStatus): void {
    this.endPart();
    this.done = this.#item(status);
    conclude(this.#place, this.done);
  }

  #item(status: ItemStatus | 'in_progress'): JsonObject {
    return { id: this.#place.id, type: 'message', status, role: 'assistant', content: [...this.#parts] };
  }

  #say(type: string, members: JsonObject): void {
    const { say, id, index } = this.#place;
    say(type, { item_id: id, output_index: index, content_index: this.#parts.length, ...members });
  }
}

function part(kind: PartKind, text: string): JsonObject {
  return kind === 'refusal'
    ? { type: 'refusal', refusal: text }
    : { type: 'output_text', text, annotations: [], logprobs: [] };
}
