import type { JsonObject } from '../../../../kit/json-value.ts';

/** Says one event of the stream. */
export type Say = (type: string, members: JsonObject) => void;

/** `incomplete` when the model was cut off. */
export type ItemStatus = 'completed' | 'incomplete';

/** One element of `output` while it is being written. */
export interface OutputItem {
  /** Says what closes it. */
  close(status: ItemStatus): void;
  /** The closed item; null before. */
  readonly done: JsonObject | null;
}

export interface ItemPlace {
  readonly say: Say;
  readonly index: number;
  readonly id: string;
}

export function announce({ say, index }: ItemPlace, item: JsonObject): void {
  say('response.output_item.added', { output_index: index, item });
}

export function conclude({ say, index }: ItemPlace, item: JsonObject): void {
  say('response.output_item.done', { output_index: index, item });
}
