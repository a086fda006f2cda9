import { shownText } from '../../domain/upstream-text.ts';
import { objectOf } from '../../kit/json-value.ts';

export interface ModelList {
  readonly count: number;
  readonly ids: string[];
}

const IDS_MAX = 100;
const ID_CHARACTERS_MAX = 200;

/** The models in any of the shapes that compatible providers use: `{data: […]}`, `{models: […]}` or a bare array. */
export function modelListOf(answer: unknown, secret: string | null): ModelList | null {
  const list = listIn(answer);
  if (list === null) return null;
  const ids = list
    .map(idOf)
    .filter((id) => id !== null)
    .filter((id) => isShowable(id, secret));
  return { count: list.length, ids: [...new Set(ids)].slice(0, IDS_MAX) };
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

/** An id is shown unchanged or not at all, because people copy it. */
function isShowable(id: string, secret: string | null): boolean {
  return id.length > 0 && id.length <= ID_CHARACTERS_MAX && shownText(id, secret) === id;
}
