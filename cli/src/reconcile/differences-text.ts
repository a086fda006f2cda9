import { count, dollars, numberText, plain } from '../output/cells.ts';
import type { Column } from '../output/table.ts';
import type { ComparedDay, Missing } from './compare.ts';
import type { NamedPrice } from './name-prices.ts';

export const columns: Column<ComparedDay>[] = [
  { title: 'day', value: ({ day }) => day },
  { title: 'model', value: ({ model }) => model, elastic: true },
  {
    title: 'requests',
    value: ({ usage }) => pair(usage?.relay.requests, usage?.provider.requests),
    align: 'right',
  },
  {
    title: 'input',
    value: ({ usage }) => pair(usage?.relay.input_tokens, usage?.provider.input_tokens),
    align: 'right',
  },
  {
    title: 'output',
    value: ({ usage }) => pair(usage?.relay.output_tokens, usage?.provider.output_tokens),
    align: 'right',
  },
  {
    title: 'cost',
    value: ({ cost_usd }) => pair(usd(cost_usd?.relay), usd(cost_usd?.provider)),
    align: 'right',
  },
  { title: 'result', value: resultOf, tone: ({ equal }) => (equal ? 'good' : 'bad') },
];

type Figure = string | number | null | undefined;

function figureText(figure: Figure): string {
  return typeof figure === 'number' ? numberText(figure) : String(figure);
}

/** One figure where both agree, otherwise Relay's and the provider's. */
function pair(relay: Figure, provider: Figure): string {
  if (relay === undefined) return '-';
  const own = figureText(relay);
  return provider === null || relay === provider ? own : `${own} ≠ ${figureText(provider)}`;
}

function usd(exact: string | undefined): string | undefined {
  return exact === undefined ? undefined : `$${exact}`;
}

function resultOf({ equal, missing_in_relay, missing_at_provider, price_rows }: ComparedDay): string {
  if (equal) return 'equal';
  const parts = [
    missing_in_relay.length > 0 ? 'missing from Relay' : '',
    missing_at_provider.length > 0 ? 'missing from the export' : '',
    price_rows.length > 0 ? 'price' : '',
  ].filter((part) => part !== '');
  return parts.length === 0 ? 'cost' : parts.join(', ');
}

/** What is behind each difference, in sentences. */
export function differencesText(days: readonly ComparedDay[]): string {
  return days
    .flatMap(sentencesOf)
    .map((line) => `${line}\n`)
    .join('');
}

function sentencesOf(each: ComparedDay): string[] {
  const { day, model, missing_in_relay, missing_at_provider, price_rows, estimated_requests, equal } = each;
  if (equal) return [];
  const of = `${day} ${plain(model)}:`;
  const lines = [
    ...missing_in_relay.map(
      (gap) =>
        `${of} Relay has no record of ${amountOf(gap)}. This usage bypassed Relay, or its rows were lost.`,
    ),
    ...missing_at_provider.map((gap) => `${of} the provider does not report ${amountOf(gap)}.`),
    ...price_rows.map((price) => `${of} ${priceText(price)}`),
  ];
  const guess =
    estimated_requests > 0 && missing_in_relay.length + missing_at_provider.length > 0
      ? [
          `${of} the usage of ${count(estimated_requests, 'request')} in Relay is an estimate, because the provider reported none.`,
        ]
      : [];
  if (lines.length === 0)
    return [
      `${of} the cost differs, and no single price explains it. Export the costs by line item or by description to see the price.`,
    ];
  return [...lines, ...guess];
}

function amountOf({ from, to, requests, input_tokens, output_tokens }: Missing): string {
  const isDay = from.slice(11, 16) === '00:00' && to.slice(11, 16) === '00:00';
  const tokens = `${numberText(input_tokens)} input and ${numberText(output_tokens)} output tokens`;
  const what = requests === null || requests === 0 ? tokens : `${count(requests, 'request')} with ${tokens}`;
  return isDay ? what : `${what} between ${from.slice(11, 16)} and ${to.slice(11, 16)} UTC`;
}

function priceText(price: NamedPrice): string {
  const policy = price.pricing_policy_id === null ? '' : ` (price ID ${price.pricing_policy_id})`;
  const tier = price.service_tier === null ? '' : ` in service tier ${price.service_tier}`;
  const is = price.price_micros === null ? 'is not set' : `is ${dollars(price.price_micros)}`;
  const bill = `the bill says ${dollars(price.billed_micros)} / 1M tokens`;
  const perhaps = price.certain
    ? ''
    : ' One of the prices named here is wrong; compare more days to find which.';
  return `${price.field}${tier} of endpoint ${plain(price.endpoint_name)}${policy} ${is}, but ${bill}.${perhaps}`;
}
