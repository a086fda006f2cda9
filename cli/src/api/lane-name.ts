import { callableNames } from './callable-names.ts';
import type { Api } from './client.ts';
import { findOneOrOnly } from './find-one.ts';

/** What was typed, which may also be a model; without it, the only lane that clients can call. */
export async function laneName(api: Api, typed: string | undefined): Promise<string> {
  if (typed !== undefined) return typed;
  const all = (await callableNames(api)).map((slug) => ({ id: slug, slug, name: slug }));
  return findOneOrOnly(all, undefined, { singular: 'lane', plural: 'lanes' }).slug;
}
