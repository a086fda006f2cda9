import type { PricingPolicy } from '@relay/contract';
import { useState } from 'react';
import { formatCount, formatMoney } from '../../format/numbers.ts';
import { formatDay } from '../../format/times.ts';
import { PriceDialog } from '../../parts/price-dialog.tsx';
import { MORE_PARTS, PART_PRICES } from '../../parts/price-draft.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { DetailList, Section } from '../../ui/detail-list.tsx';
import type { EndpointRow } from './use-endpoint-rows.ts';

const words = text.endpoints.prices;

/** The price of an endpoint. */
export function PriceSection({ row: { endpoint, price } }: { readonly row: EndpointRow }) {
  const { can } = useAccess();
  const [editing, setEditing] = useState(false);
  const isOwned = endpoint.managed_by === 'file' || price?.managed_by === 'file';
  const mayWrite = can('createPricingPolicy') && !isOwned;
  return (
    <Section
      title={words.title}
      actions={
        mayWrite ? (
          <Button size="small" onClick={() => setEditing(true)}>
            {price === undefined ? words.set : words.edit}
          </Button>
        ) : undefined
      }
    >
      {price === undefined ? (
        <p className="text-[13px] text-ink-soft">{words.none}</p>
      ) : (
        <DetailList
          rows={[
            [words.input, perMillion(price.input_cost_micros_per_1m_tokens)],
            [
              words.cachedInput,
              price.cached_input_cost_micros_per_1m_tokens === null
                ? words.cachedSame
                : perMillion(price.cached_input_cost_micros_per_1m_tokens),
            ],
            [words.output, perMillion(price.output_cost_micros_per_1m_tokens)],
            [words.flat, formatMoney(price.flat_request_cost_micros)],
            ...moreRows(price),
            [words.source, words.sources[price.source]],
            [words.asOf, formatDay(price.as_of)],
          ]}
        />
      )}
      {editing ? (
        <PriceDialog endpointId={endpoint.id} price={price} onClose={() => setEditing(false)} />
      ) : null}
    </Section>
  );
}

/** Prices that are set beyond the usual ones. */
function moreRows(price: PricingPolicy): [string, string][] {
  const parts = MORE_PARTS.flatMap((part): [string, string][] => {
    const micros = price[PART_PRICES[part]];
    return micros === null ? [] : [[words.parts[part], perMillion(micros)]];
  });
  const variants = price.variants.map((variant): [string, string] => [
    [
      variant.service_tier === undefined ? [] : [words.byTier(variant.service_tier)],
      variant.above_input_tokens === undefined
        ? []
        : [words.byLength(formatCount(variant.above_input_tokens))],
    ]
      .flat()
      .join(', '),
    inAndOut({ ...price, ...variant }),
  ]);
  const scheduled = price.scheduled.map((later): [string, string] => [
    words.from(formatDay(later.valid_from)),
    inAndOut(later),
  ]);
  return [...parts, ...variants, ...scheduled];
}

function inAndOut(
  prices: Pick<PricingPolicy, 'input_cost_micros_per_1m_tokens' | 'output_cost_micros_per_1m_tokens'>,
): string {
  const input = formatMoney(prices.input_cost_micros_per_1m_tokens);
  const output = formatMoney(prices.output_cost_micros_per_1m_tokens);
  return `${input} ${text.endpoints.priceIn}, ${output} ${text.endpoints.priceOut} ${text.endpoints.per}`;
}

function perMillion(micros: number): string {
  return `${formatMoney(micros)} ${text.endpoints.per}`;
}
