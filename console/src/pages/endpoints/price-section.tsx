import { useState } from 'react';
import { formatMoney } from '../../format/numbers.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { DetailList, Section } from '../../ui/detail-list.tsx';
import { PriceDialog } from './price-dialog.tsx';
import type { EndpointRow } from './use-endpoint-rows.ts';

const words = text.endpoints.prices;

/** The price of an endpoint. */
export function PriceSection({ row: { endpoint, price } }: { readonly row: EndpointRow }) {
  const { can } = useAccess();
  const [editing, setEditing] = useState(false);
  const mayWrite = can('createPricingPolicy') && price?.managed_by !== 'file';
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
            [words.source, price.source === 'catalog' ? words.fromCatalog : words.manual],
          ]}
        />
      )}
      {editing ? (
        <PriceDialog endpointId={endpoint.id} price={price} onClose={() => setEditing(false)} />
      ) : null}
    </Section>
  );
}

function perMillion(micros: number): string {
  return `${formatMoney(micros)} ${text.endpoints.per}`;
}
