import { countWords } from '@relay/contract/words';
import { objectOf } from '../../kit/json-value.ts';
import type { ListedModel, ModelListRules } from '../protocol.ts';
import { invalidField } from '../request-body.ts';

const LIMIT_DEFAULT = 20;
const LIMIT_MAX = 1_000;

/** https://docs.anthropic.com/en/api/models-list */
export const anthropicModels: ModelListRules = {
  list(models, query) {
    const all = models.toSorted((a, b) => b.createdAtMs - a.createdAtMs);
    const limit = limitOf(query);
    const after = placeOf(all, query, 'after_id');
    const before = placeOf(all, query, 'before_id');
    const from = after === null ? (before === null ? 0 : Math.max(0, before - limit)) : after + 1;
    const page = all.slice(from, Math.min(before ?? all.length, from + limit));
    // Seen from the cursor: a page before it may be preceded by others.
    const hasMore =
      after === null && before !== null ? from > 0 : from + page.length < (before ?? all.length);
    return {
      data: page.map(modelInfo),
      has_more: hasMore,
      first_id: page[0]?.id ?? null,
      last_id: page.at(-1)?.id ?? null,
    };
  },
  one: modelInfo,
  pages: {
    first: { limit: String(LIMIT_MAX) },
    after(page) {
      const { has_more, last_id } = objectOf(page);
      if (has_more !== true || typeof last_id !== 'string' || last_id === '') return null;
      return { limit: String(LIMIT_MAX), after_id: last_id };
    },
  },
};

/** What Relay does not know of a model is null, as it is at Anthropic. */
function modelInfo({ id, createdAtMs }: ListedModel) {
  return {
    type: 'model',
    id,
    display_name: id,
    created_at: new Date(createdAtMs).toISOString(),
    lifecycle: 'active',
    line: null,
    capabilities: null,
    max_input_tokens: null,
    max_tokens: null,
    deprecated_at: null,
    retires_at: null,
  };
}

function limitOf(query: URLSearchParams): number {
  const given = query.get('limit');
  if (given === null) return LIMIT_DEFAULT;
  const limit = Number(given);
  if (Number.isInteger(limit) && limit >= 1 && limit <= LIMIT_MAX) return limit;
  throw invalidField('limit', `limit must be an integer from 1 to ${countWords(LIMIT_MAX)}.`);
}

function placeOf(models: readonly ListedModel[], query: URLSearchParams, name: string): number | null {
  const id = query.get(name);
  if (id === null) return null;
  const place = models.findIndex((model) => model.id === id);
  if (place >= 0) return place;
  throw invalidField(name, `${name} is not a model in this list. Omit it to start from the beginning.`);
}
