import { type Api, dataOf } from './client.ts';
import { findOne } from './find-one.ts';

/** The id of a team, by its name, slug or id. */
export async function teamId(api: Api, typed: string): Promise<string> {
  const all = await dataOf(api.management.GET('/api/relay/teams'));
  return findOne(all, typed, { singular: 'team', plural: 'teams' }).id;
}
