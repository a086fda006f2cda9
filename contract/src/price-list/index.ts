import { isFields, type PriceListEntry } from './list-entry.ts';
import { readLitellm } from './read-litellm.ts';
import { readModelsDev } from './read-models-dev.ts';

export { litellmPriceField, litellmPricesOf } from './read-litellm.ts';
export { shiftDecimal } from './shift-decimal.ts';

export interface PriceList {
  readonly source: 'litellm' | 'models_dev';
  readonly entries: readonly PriceListEntry[];
}

/** A public price list, whichever it is; null when it is neither LiteLLM's nor models.dev's. */
export function readPriceList(file: unknown): PriceList | null {
  if (!isFields(file)) return null;
  const values = Object.values(file).filter(isFields);
  if (values.some((value) => isFields(value['models'])))
    return { source: 'models_dev', entries: readModelsDev(file) };
  if (values.some((value) => 'litellm_provider' in value))
    return { source: 'litellm', entries: readLitellm(file) };
  return null;
}

/** Those of the list that price a model of an endpoint, at any provider: whole lists are larger than a body may be. */
export function entriesFor(list: PriceList, upstreamModels: Iterable<string>): PriceListEntry[] {
  const wanted = new Set([...upstreamModels].flatMap(listedNamesOf));
  return list.entries.filter(({ model }) => wanted.has(model));
}

/** What a list may call an upstream model, the most exact name first. Gemini and Vertex put their own prefix before it. */
export function listedNamesOf(upstreamModel: string): string[] {
  return [...new Set([upstreamModel, upstreamModel.replace(/^(?:models|google)\//, '')])];
}
