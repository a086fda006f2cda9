import type { PriceListEntry } from '@relay/contract';
import { listedNamesOf } from '@relay/contract/price-list';
import { providerPresetOf, providerPresets } from '../../protocols/provider-presets.ts';
import type { Row } from '../resources/rows.ts';

type ListedProvider = Pick<Row<'providers'>, 'base_url' | 'preset_slug'>;

/** Presets by their host. Servers on the user's own machine, and a preset of any host, name no provider. */
const HOSTS: readonly (readonly [RegExp, string])[] = providerPresets.flatMap(({ slug, base_url }) => {
  const host = /^https:\/\/([^/]+)/.exec(base_url)?.[1];
  if (host === undefined || /^\{\w+\}$/.test(host)) return [];
  const pattern = host
    .split(/\{\w+\}/)
    .map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('[^.]+');
  return [[new RegExp(`^${pattern}$`), slug] as const];
});

/** Two presets of the same provider, with the same prices. */
const SAME = new Map([['azure-openai-classic', 'azure-openai']]);

/** The preset whose prices a provider has. Its host decides; a host that no preset has leaves it to the provider's preset. */
function presetFor({ base_url, preset_slug }: ListedProvider): string | null {
  const { host } = new URL(base_url);
  const slug = HOSTS.find(([pattern]) => pattern.test(host))?.[1] ?? providerPresetOf(preset_slug)?.slug;
  if (slug === undefined || slug === 'openai-compatible') return null;
  return SAME.get(slug) ?? slug;
}

export type EntryFinder = (provider: ListedProvider, upstreamModel: string) => readonly PriceListEntry[];

/**
 * Finds the entries for a model at a provider: several, where the list has the model under several names with other prices. The provider is known
 * by its preset or host, never by the model alone.
 */
export function entryFinder(entries: readonly PriceListEntry[]): EntryFinder {
  const byModel = Map.groupBy(entries, ({ model }) => model);
  return (provider, upstreamModel) => {
    const preset = presetFor(provider);
    const { host } = new URL(provider.base_url);
    const isFrom = (entry: PriceListEntry) =>
      (preset !== null && entry.preset_slug === preset) || (entry.host !== null && entry.host === host);
    for (const name of listedNamesOf(upstreamModel)) {
      const found = (byModel.get(name) ?? []).filter(isFrom);
      if (found.length > 0) return distinct(found);
    }
    return [];
  };
}

/** Entries that say the same are one. */
function distinct(entries: readonly PriceListEntry[]): PriceListEntry[] {
  const said = ({ provider: _provider, host: _host, model: _model, ...prices }: PriceListEntry) =>
    JSON.stringify(Object.entries(prices).sort(([one], [other]) => (one < other ? -1 : 1)));
  return [...new Map(entries.map((entry) => [said(entry), entry])).values()];
}
