import type { EndpointCreate, Provider, WireProtocol } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { Api } from '../../api/client.ts';
import { cacheKeys, endpointsQuery, providerPresetsQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useChange } from '../../api/use-change.ts';
import { matches } from '../../format/matches.ts';
import { formatCount } from '../../format/numbers.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Check } from '../../ui/field.tsx';
import { SearchInput } from '../../ui/search-input.tsx';

const words = text.providers.models;
/** A list of a thousand check boxes is slow to draw, and the search finds the rest. */
const SHOWN_MAX = 200;

interface ImportModelsProps {
  readonly provider: Provider;
  readonly modelIds: readonly string[];
  /** What the provider speaks. */
  readonly protocol: WireProtocol;
}

/** Creates endpoints for the models of a provider. */
export function ImportModels({ provider, modelIds, protocol }: ImportModelsProps) {
  const [query, setQuery] = useState('');
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const api = useApi();
  const existing = useExistingModels(provider.id);
  const presets = useQuery(providerPresetsQuery(api));
  const preset = presets.data?.find(({ slug }) => slug === provider.preset_slug);
  const create = useChange({
    run: (api, models: readonly string[]) =>
      createEndpoints(api, models, {
        provider_id: provider.id,
        route_kind: preset?.route_kind ?? 'multi',
        protocol,
      }),
    stale: [cacheKeys.endpoints, cacheKeys.prices],
    said: (count) => words.created(count),
    onDone: () => setChosen(new Set()),
  });
  const toggle = (model: string) =>
    setChosen((before) => {
      const next = new Set(before);
      if (!next.delete(model)) next.add(model);
      return next;
    });
  const matching = modelIds.filter((model) => matches(query, model));
  const shown = matching.slice(0, SHOWN_MAX);
  return (
    <div>
      <h4 className="text-[13px] font-medium">{words.title}</h4>
      <p className="mb-3 text-xs text-ink-faint">{words.hint}</p>
      {modelIds.length > 8 ? <SearchInput label={words.search} value={query} onChange={setQuery} /> : null}
      <ul className="mt-3 max-h-64 space-y-2 overflow-y-auto rounded-lg border p-3">
        {shown.length === 0 ? <li className="text-[13px] text-ink-faint">{words.none}</li> : null}
        {shown.map((model) => (
          <li key={model}>
            <Check
              label={<span className="font-mono text-xs font-normal">{model}</span>}
              {...(existing.has(model) ? { hint: words.exists } : {})}
              disabled={existing.has(model)}
              checked={chosen.has(model) || existing.has(model)}
              onChange={() => toggle(model)}
            />
          </li>
        ))}
        {matching.length > SHOWN_MAX ? (
          <li className="text-xs text-ink-faint">{words.more(formatCount(matching.length - SHOWN_MAX))}</li>
        ) : null}
      </ul>
      <ErrorNote error={create.error} className="mt-3" />
      <Button
        look="solid"
        size="small"
        className="mt-3"
        disabled={chosen.size === 0}
        busy={create.isPending}
        onClick={() => create.mutate([...chosen])}
      >
        {words.create(chosen.size)}
      </Button>
    </div>
  );
}

/** The models that the provider has an endpoint for. */
function useExistingModels(providerId: string): ReadonlySet<string> {
  const endpoints = useQuery(endpointsQuery(useApi()));
  return useMemo(() => {
    const ofProvider = endpoints.data?.filter(({ provider_id: id }) => id === providerId);
    return new Set(ofProvider?.map((endpoint) => endpoint.upstream_model));
  }, [endpoints.data, providerId]);
}

/** Sequential, so that everything before a failure exists. */
async function createEndpoints(
  api: Api,
  models: readonly string[],
  shared: Pick<EndpointCreate, 'provider_id' | 'route_kind' | 'protocol'>,
): Promise<number> {
  for (const model of models) {
    await api.POST('/api/relay/endpoints', {
      body: { ...shared, name: model, upstream_model: model },
    });
  }
  return models.length;
}
