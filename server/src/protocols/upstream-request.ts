import type { ProviderExtras } from '../domain/snapshot.ts';
import { modelListOf, quirksOf } from './provider-presets.ts';

type Extras = ProviderExtras['extraHeaders'];

/** Path and query of an operation. `pathPrefix` is the path of the base URL, `path` that of the protocol. */
export function operationTarget(
  { presetSlug, extraQuery }: ProviderExtras,
  pathPrefix: string,
  path: string,
  upstreamModel: string,
): string {
  const { path_prefix } = quirksOf(presetSlug);
  const prefix =
    path_prefix === '' ? '' : path_prefix.replace('{model}', () => encodeURIComponent(upstreamModel));
  return pathPrefix + prefix + path + queryText(extraQuery);
}

/** Path and query of the list of models, or of the page that `page` asks for; null when the provider has none. */
export function modelListTarget(
  { presetSlug, extraQuery }: ProviderExtras,
  pathPrefix: string,
  page: Extras = null,
): string | null {
  const list = modelListOf(presetSlug);
  if (list === null) return null;
  return (list.startsWith('/') ? list : `${pathPrefix}/${list}`) + queryText(joined(page, extraQuery));
}

/** The operator's headers replace those of the same name. Names and values are in turn. */
export function withExtraHeaders(headers: readonly string[], extra: Extras): string[] {
  if (extra === null) return [...headers];
  const names = new Set(Object.keys(extra).map((name) => name.toLowerCase()));
  const isReplaced = (index: number) => names.has((headers[index - (index % 2)] ?? '').toLowerCase());
  return [...headers.filter((_, index) => !isReplaced(index)), ...Object.entries(extra).flat()];
}

/** The operator's parameters win. */
function joined(page: Extras, extra: Extras): Extras {
  return page === null ? extra : { ...page, ...extra };
}

function queryText(extra: Extras): string {
  // `%20` and not `+`: signatures of AWS read a plus sign as itself.
  return extra === null ? '' : `?${String(new URLSearchParams(extra)).replaceAll('+', '%20')}`;
}
