import type { PricePlan, PricePlanRequest } from '@relay/contract';
import { useQueryClient } from '@tanstack/react-query';
import { take } from '../../api/client.ts';
import { endpointsQuery } from '../../api/queries.ts';
import { useChange } from '../../api/use-change.ts';
import { Explained } from '../../errors/api-error.ts';
import { text } from '../../text/index.ts';

const words = text.priceImport;

export interface PlannedPrices {
  readonly request: PricePlanRequest;
  readonly plan: PricePlan;
}

/** The plan of a price list, or why there is none. */
export function usePricePlan() {
  const cache = useQueryClient();
  return useChange({
    run: async (api, list: PricePlanRequest | File): Promise<PlannedPrices> => {
      const endpoints = await cache.ensureQueryData(endpointsQuery(api));
      const models = endpoints.map(({ upstream_model }) => upstream_model);
      const request = list instanceof File ? await readList(list, models) : list;
      return { request, plan: await take(api.POST('/api/relay/prices/plan', { body: request })) };
    },
    stale: [],
  });
}

/** Whole lists are larger than a request may be; only models of endpoints are sent. */
async function readList(file: File, upstreamModels: readonly string[]): Promise<PricePlanRequest> {
  // Loaded when a file is chosen, because the page itself does not need it.
  const { entriesFor, readPriceList } = await import('@relay/contract/price-list');
  const list = readPriceList(await parsed(file));
  if (list === null) throw new Explained(words.notAList);
  const as_of = new Date(file.lastModified).toISOString();
  return { source: list.source, as_of, entries: entriesFor(list, upstreamModels) };
}

async function parsed(file: File): Promise<unknown> {
  const content = await file.text().catch(() => {
    throw new Explained(words.unreadable);
  });
  try {
    return JSON.parse(content);
  } catch {
    throw new Explained(words.notAList);
  }
}
