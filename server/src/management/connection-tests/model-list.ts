import { shownText } from '../../domain/upstream-text.ts';
import { objectOf } from '../../kit/json-value.ts';

export interface ModelList {
  readonly count: number;
  readonly ids: string[];
}

const IDS_MAX = 1_000;
const LOOKED_MAX = 1_200;
const ID_CHARACTERS_MAX = 200;

/**
 * The models of all pages, newest first, in any of the shapes that compatible providers use: `{data: […]}`, `{models: […]}` or a
 * bare array. Null when the first page is none of them.
 */
export function modelListOf(pages: readonly unknown[], secret: string | null): ModelList | null {
  if (listIn(pages[0]) === null) return null;
  const list = pages.flatMap((page) => listIn(page) ?? []);
  const ids = list
    .toSorted((a, b) => createdAtMs(b) - createdAtMs(a))
    .map(idOf)
    .filter((id) => id !== null);
  // A list can have a hundred thousand, and looking for the secret in each takes its time.
  const looked = [...new Set(ids)].slice(0, LOOKED_MAX);
  return { count: list.length, ids: looked.filter((id) => isShowable(id, secret)).slice(0, IDS_MAX) };
}

function listIn(answer: unknown): readonly unknown[] | null {
  if (Array.isArray(answer)) return answer;
  const { data, models } = objectOf(answer);
  if (Array.isArray(data)) return data;
  return Array.isArray(models) ? models : null;
}

function idOf(model: unknown): string | null {
  if (typeof model === 'string') return model;
  const { id, name } = objectOf(model);
  return [id, name].find((each) => typeof each === 'string') ?? null;
}

/** OpenAI says it in seconds, Anthropic as a date. Models without it keep their order, after the others. */
function createdAtMs(model: unknown): number {
  const { created, created_at } = objectOf(model);
  const ms = typeof created === 'number' ? created * 1_000 : Date.parse(String(created_at));
  return Number.isFinite(ms) ? ms : 0;
}

/** An id is shown unchanged or not at all, because people copy it. */
function isShowable(id: string, secret: string | null): boolean {
  return id.length > 0 && id.length <= ID_CHARACTERS_MAX && shownText(id, secret) === id;
}
