import { type Api, dataOf } from './client.ts';

/** Lanes, or models where there is no lane. The admin token lists lanes too. */
export async function callableNames(api: Api): Promise<string[]> {
  const { inference, management } = api.connection.tokens;
  if (inference === null && management !== null)
    return (await dataOf(api.management.GET('/api/relay/routing-lanes')))
      .filter(({ enabled }) => enabled)
      .map(({ slug }) => slug);
  const { data } = await dataOf(api.inference.GET('/models'));
  const lanes = data.filter(({ owned_by }) => owned_by === 'relay').map(({ id }) => id);
  return lanes.length > 0 ? lanes : data.map(({ id }) => id);
}
