import type { JsonObject } from '../../../../kit/json-value.ts';
import { announce, conclude, type ItemPlace, type OutputItem } from './output-item.ts';

/** Thinking, as the summary that Responses clients show. */
export class ReasoningItem implements OutputItem {
  done: JsonObject | null = null;
  readonly #place: ItemPlace;
  #text: string | null = null;
  #sealed: string | null = null;

  constructor(place: ItemPlace) {
    this.#place = place;
    announce(place, { id: place.id, type: 'reasoning', summary: [] });
  }

  add(delta: string): void {
    if (this.#text === null) this.#say('response.reasoning_summary_part.added', { part: summary('') });
    this.#text = (this.#text ?? '') + delta;
    this.#say('response.reasoning_summary_text.delta', { delta });
  }

  /** What the client returns with its next request; null when it did not ask for that. */
  seal(content: string | null): void {
    this.#sealed = content;
  }

  close(): void {
    const { id } = this.#place;
    const text = this.#text;
    if (text !== null) {
      this.#say('response.reasoning_summary_text.done', { text });
      this.#say('response.reasoning_summary_part.done', { part: summary(text) });
    }
    const sealed = this.#sealed === null ? {} : { encrypted_content: this.#sealed };
    this.done = { id, type: 'reasoning', summary: text === null ? [] : [summary(text)], ...sealed };
    conclude(this.#place, this.done);
  }

  #say(type: string, members: JsonObject): void {
    const { say, id, index } = this.#place;
    say(type, { item_id: id, output_index: index, summary_index: 0, ...members });
  }
}

function summary(text: string): JsonObject {
  return { type: 'summary_text', text };
}
