import type { ModelList, ModelObject } from '@relay/contract';
import type { ListedModel, ModelListRules } from '../protocol.ts';

/** https://platform.openai.com/docs/api-reference/models */
export const openaiModels: ModelListRules = {
  list: (models): ModelList => ({ object: 'list', data: models.map(modelObject) }),
  one: modelObject,
  pages: null,
};

function modelObject({ id, createdAtMs, ownedBy }: ListedModel): ModelObject {
  return { id, object: 'model', created: Math.floor(createdAtMs / 1_000), owned_by: ownedBy };
}
