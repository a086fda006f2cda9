import type { JsonObject } from '../../../../kit/json-value.ts';
import type { TokenProbability } from '../../model-events.ts';
import { announce, conclude, type ItemPlace, type ItemStatus, type OutputItem } from './output-item.ts';

type PartKind = 'output_text' | 'refusal';

interface OpenPart {
  readonly kind: PartKind;
  text: string;
  readonly tokens: TokenProbability[];
}

/** What the model says, in parts. */
export class MessageItem implements OutputItem {
  done: JsonObject | null = null;
  readonly #place: ItemPlace;
  readonly #parts: JsonObject[] = [];
  #open: OpenPart | null = null;

  constructor(place: ItemPlace) {
    this.#place = place;
    announce(place, this.#item('in_progress'));
  }

  /** `tokens`: those of the text, for a client that asked for their probabilities. */
  add(kind: PartKind, delta: string, tokens: readonly TokenProbability[] = []): void {
    if (this.#open?.kind !== kind) this.endPart();
    if (this.#open === null) {
      this.#open = { kind, text: '', tokens: [] };
      this.#say('response.content_part.added', { part: part(this.#open) });
    }
    this.#open.text += delta;
    this.addTokens(tokens);
    this.#say(`response.${kind}.delta`, {
      delta,
      ...(kind === 'output_text' ? { logprobs: withoutBytes(tokens) } : {}),
    });
  }

  addTokens(tokens: readonly TokenProbability[]): void {
    this.#open?.tokens.push(...tokens);
  }

  endPart(): void {
    const open = this.#open;
    if (open === null) return;
    const { kind, text, tokens } = open;
    const said = kind === 'refusal' ? { refusal: text } : { text, logprobs: withoutBytes(tokens) };
    this.#say(`response.${kind}.done`, said);
    this.#say('response.content_part.done', { part: part(open) });
    this.#parts.push(part(open));
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

function part({ kind, text, tokens }: OpenPart): JsonObject {
  return kind === 'refusal'
    ? { type: 'refusal', refusal: text }
    : { type: 'output_text', text, annotations: [], logprobs: [...tokens] };
}

/** As events have them. */
function withoutBytes(tokens: readonly TokenProbability[]): readonly JsonObject[] {
  return tokens.map(({ token, logprob, top_logprobs: top }) => ({
    token,
    logprob,
    top_logprobs: top.map((each) => ({ token: each.token, logprob: each.logprob })),
  }));
}
