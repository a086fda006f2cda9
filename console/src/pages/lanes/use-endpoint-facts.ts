import type { Endpoint } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { pricesQuery, providersQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { formatMoney } from '../../format/numbers.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';

const words = text.endpoints;

/** What tells endpoints apart when one is chosen. */
export interface EndpointFacts {
  /** "gpt-5 · OpenAI". */
  readonly source: string;
  /** Null while prices load and if the caller can’t read them. */
  readonly price: string | null;
  /** Undefined while prices load and if the caller can’t read them. */
  readonly isPriced: boolean | undefined;
}

export function useEndpointFacts(): (endpoint: Endpoint) => EndpointFacts {
  const api = useApi();
  const { can } = useAccess();
  const providers = useQuery({ ...providersQuery(api), enabled: can('listProviders') });
  const prices = useQuery({ ...pricesQuery(api), enabled: can('listPricingPolicies') });
  return useMemo(() => {
    const providerOf = new Map(providers.data?.map((each) => [each.id, each.name]));
    const priceOf = new Map(prices.data?.map((each) => [each.endpoint_id, each]));
    return ({ id, upstream_model: model, provider_id: providerId }) => {
      const provider = providerOf.get(providerId);
      const price = priceOf.get(id);
      const known =
        price === undefined
          ? words.unpriced
          : words.listedPrice(
              formatMoney(price.input_cost_micros_per_1m_tokens),
              formatMoney(price.output_cost_micros_per_1m_tokens),
            );
      return {
        source: provider === undefined ? model : `${model} · ${provider}`,
        price: prices.data === undefined ? null : known,
        isPriced: prices.data === undefined ? undefined : price !== undefined,
      };
    };
  }, [providers.data, prices.data]);
}
