import { credentialWords } from '@relay/contract';
import { API_KEY_PREFIX } from '../domain/api-key.ts';
import type { ProviderExtras } from '../domain/snapshot.ts';
import { modelListOf, quirksOf } from './provider-presets.ts';

type Extras = ProviderExtras['extraHeaders'];

/**
 * Path and query of an operation. `pathPrefix` is the path of the base URL, `path` that of the protocol. `clientQuery`: what
 * `passedQuery` left of the client's query; null if Relay makes or translates the request.
 */
export function operationTarget(
  { presetSlug, extraQuery }: ProviderExtras,
  pathPrefix: string,
  path: string,
  upstreamModel: string,
  clientQuery: URLSearchParams | null = null,
): string {
  const { path_prefix } = quirksOf(presetSlug);
  const prefix =
    path_prefix === '' ? '' : path_prefix.replace('{model}', () => encodeURIComponent(upstreamModel));
  return pathPrefix + prefix + path + queryText(joined(clientQuery, extraQuery));
}

/** Path and query of the list of models, or of the page that `page` asks for; null when the provider has none. */
export function modelListTarget(
  { presetSlug, extraQuery }: ProviderExtras,
  pathPrefix: string,
  page: Extras = null,
): string | null {
  const list = modelListOf(presetSlug);
  if (list === null) return null;
  return (
    (list.startsWith('/') ? list : `${pathPrefix}/${list}`) +
    queryText(joined(new URLSearchParams(page ?? {}), extraQuery))
  );
}

/** The operator's headers replace those of the same name. Names and values are in turn. */
export function withExtraHeaders(headers: readonly string[], extra: Extras): string[] {
  if (extra === null) return [...headers];
  const names = new Set(Object.keys(extra).map((name) => name.toLowerCase()));
  const isReplaced = (index: number) => names.has((headers[index - (index % 2)] ?? '').toLowerCase());
  return [...headers.filter((_, index) => !isReplaced(index)), ...Object.entries(extra).flat()];
}

const CREDENTIAL_NAME = new RegExp(credentialWords.join('|'), 'i');

/**
 * Returns the parameters of a client's query that a provider of its protocol gets, such as `beta=true`. Leaves out what may be a credential: by its name, or because it contains the key that the client has `presented` or any key
 * of Relay. The listener bounds the length of a target.
 */
export function passedQuery(query: string, presented: string | null): URLSearchParams {
  const isSecret = (text: string) =>
    text.includes(API_KEY_PREFIX) || (presented !== null && text.includes(presented));
  return new URLSearchParams(
    [...new URLSearchParams(query)].filter(
      ([name, value]) => !CREDENTIAL_NAME.test(name) && !isSecret(name) && !isSecret(value),
    ),
  );
}

/** The operator's parameters win, in any spelling of their names. */
function joined(given: URLSearchParams | null, extra: Extras): URLSearchParams | null {
  if (given === null && extra === null) return null;
  const own = Object.entries(extra ?? {});
  if (given === null) return new URLSearchParams(own);
  const taken = new Set(own.map(([name]) => name.toLowerCase()));
  return new URLSearchParams([...[...given].filter(([name]) => !taken.has(name.toLowerCase())), ...own]);
}

function queryText(query: URLSearchParams | null): string {
  // `%20` and not `+`: signatures of AWS read a plus sign as itself.
  return query === null || query.size === 0 ? '' : `?${String(query).replaceAll('+', '%20')}`;
}
