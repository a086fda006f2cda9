import { type CostRecord, DAY_MS, KINDS, type Kind, picosIn, type UsageRecord } from './export-record.ts';
import { fieldOf, isInput, pricesOf } from './price-in-force.ts';
import type { Endpoint, Metered, Policy } from './relay-side.ts';

/** A price of Relay that is not the one the bill was made with. */
export interface NamedPrice {
  /** Null where the endpoint has no price. */
  readonly pricing_policy_id: string | null;
  readonly endpoint_id: string;
  readonly endpoint_name: string;
  readonly field: string;
  readonly service_tier: string | null;
  /** In micro-USD for a million tokens. */
  readonly price_micros: number | null;
  readonly billed_micros: number;
  /** False: the bill fits as well with another of the fields that are named beside it. */
  readonly certain: boolean;
}

export interface PriceDay {
  readonly day: string;
  readonly model: string;
  readonly rows: readonly Metered[];
  readonly usage: readonly UsageRecord[];
  readonly costs: readonly CostRecord[];
}

export interface PriceQuestion {
  /** Those whose cost differs from the bill. */
  readonly days: readonly PriceDay[];
  readonly endpoints: readonly Endpoint[];
  readonly policies: readonly Policy[];
  readonly tolerancePicos: bigint;
}

/** The prices behind differences, by day and model. */
export function checkPrices(question: PriceQuestion): Map<string, NamedPrice[]> {
  const found = new Map<string, NamedPrice[]>();
  for (const [, days] of Map.groupBy(question.days, ({ model }) => model))
    for (const [key, named] of [...byKind(question, days), ...byTotal(question, days)])
      found.set(key, [...(found.get(key) ?? []), ...named]);
  return found;
}

type Found = [key: string, named: NamedPrice[]];

/** Costs by kind of token say each price: the amount by the tokens that the same provider reports, or else by Relay's. */
function byKind(question: PriceQuestion, days: readonly PriceDay[]): Found[] {
  return days.map((day) => {
    const tokens = tokensOf(day);
    const bills = Map.groupBy(
      day.costs.filter(({ kind }) => kind !== null),
      ({ kind, serviceTier, aboveInputTokens }) => `${kind} ${serviceTier} ${aboveInputTokens}`,
    );
    // The usage is not divided by tier or length, so it goes with the only amount of its kind.
    const amounts = Map.groupBy([...bills.values()], ([bill]) => bill?.kind);
    const named = [...amounts.values()].flatMap((some) => {
      const [bill] = some[0] ?? [];
      const count = bill?.kind ? (tokens[bill.kind] ?? 0) : 0;
      if (some.length !== 1 || bill === undefined || bill.kind === null || count === 0) return [];
      const picos = some[0]?.reduce((sum, each) => sum + each.picos, 0n) ?? 0n;
      return namedFor(question, day, bill.kind, { ...bill, picos }, count);
    });
    return [keyOf(day), named];
  });
}

function namedFor(
  { endpoints, policies, tolerancePicos }: PriceQuestion,
  { day, rows }: PriceDay,
  kind: Kind,
  bill: CostRecord,
  count: number,
): NamedPrice[] {
  const atMs = Date.parse(day) + DAY_MS - 1;
  const billed = Number((bill.picos + BigInt(count) / 2n) / BigInt(count));
  return endpointsOf(rows, endpoints).flatMap(({ id, name }) => {
    const policy = policies.find(({ endpoint_id }) => endpoint_id === id);
    const prices = policy === undefined ? [] : pricesOf(policy, kind, atMs, bill);
    const [lowest, highest] = [prices.at(0), prices.at(-1)];
    if (lowest !== undefined && highest !== undefined) {
      const [least, most] = [lowest, highest].map((price) => BigInt(price) * BigInt(count));
      if (bill.picos >= (least ?? 0n) - tolerancePicos && bill.picos <= (most ?? 0n) + tolerancePicos)
        return [];
    }
    return [
      {
        pricing_policy_id: policy?.id ?? null,
        endpoint_id: id,
        endpoint_name: name,
        field: fieldOf(kind),
        service_tier: bill.serviceTier,
        price_micros: lowest ?? null,
        billed_micros: billed,
        certain: true,
      },
    ];
  });
}

/**
 * Costs of a whole model say a price only where one price alone explains every day: the difference by the tokens of its kind is then the same on
 * each of them. Days on which tokens are missing say nothing.
 */
function byTotal(question: PriceQuestion, days: readonly PriceDay[]): Found[] {
  const off = days.flatMap((day) => {
    const isWhole = day.costs.length > 0 && day.costs.every(({ kind }) => kind === null);
    const [endpoint, ...others] = endpointsOf(day.rows, question.endpoints);
    if (!isWhole || endpoint === undefined || others.length > 0 || !hasSameTokens(day)) return [];
    const billed = day.costs.reduce((sum, { picos }) => sum + picos, 0n);
    const relay = day.rows.reduce((sum, { cost_usd }) => sum + (picosIn(cost_usd)?.picos ?? 0n), 0n);
    const difference = billed - relay;
    const isSame = (difference < 0n ? -difference : difference) <= question.tolerancePicos;
    return isSame ? [] : [{ day, endpoint, difference, tokens: tokensOf(day) }];
  });
  const [first] = off;
  if (first === undefined) return [];
  const policy = question.policies.find(({ endpoint_id }) => endpoint_id === first.endpoint.id);
  const possible = KINDS.flatMap((kind) => {
    const price = policy === undefined ? 0 : (pricesOf(policy, kind, Date.parse(first.day.day), ANY)[0] ?? 0);
    const implied = off.map(({ difference, tokens }) => {
      const count = BigInt(tokens[kind] ?? 0);
      return count === 0n
        ? null
        : {
            micros: price + Number(difference) / Number(count),
            slack: Number(question.tolerancePicos) / Number(count),
          };
    });
    if (implied.some((each) => each === null)) return [];
    const known = implied.flatMap((each) => each ?? []);
    const [one] = known;
    const isSteady = known.every(
      ({ micros, slack }) => Math.abs(micros - (one?.micros ?? 0)) <= slack + (one?.slack ?? 0) + 1,
    );
    return isSteady && one !== undefined && one.micros >= 0
      ? [{ kind, price, billed: Math.round(one.micros) }]
      : [];
  });
  const named = possible.map(({ kind, price, billed }) => ({
    pricing_policy_id: policy?.id ?? null,
    endpoint_id: first.endpoint.id,
    endpoint_name: first.endpoint.name,
    field: fieldOf(kind),
    service_tier: null,
    price_micros: policy === undefined ? null : price,
    billed_micros: billed,
    certain: possible.length === 1,
  }));
  return off.map(({ day }) => [keyOf(day), named]);
}

const ANY = { serviceTier: null, aboveInputTokens: null };

function keyOf({ day, model }: PriceDay): string {
  return `${day}\n${model}`;
}

function endpointsOf(rows: readonly Metered[], endpoints: readonly Endpoint[]): Endpoint[] {
  const ids = new Set(rows.filter(({ requests }) => requests > 0).map(({ endpoint_id }) => endpoint_id));
  return endpoints.filter(({ id }) => ids.has(id));
}

/** The provider's count of each kind, or Relay's, which knows fewer kinds. */
function tokensOf({ usage, rows }: PriceDay): Partial<Record<Kind, number>> {
  const sums: Partial<Record<Kind, number>> = {};
  const add = (kind: Kind, count: number) => {
    sums[kind] = (sums[kind] ?? 0) + count;
  };
  for (const { tokens } of usage) for (const kind of KINDS) add(kind, tokens[kind] ?? 0);
  if (usage.length > 0) return sums;
  for (const { input_tokens, cached_input_tokens, output_tokens } of rows) {
    add('input', input_tokens - cached_input_tokens);
    add('cached_input', cached_input_tokens);
    add('output', output_tokens);
  }
  return sums;
}

function hasSameTokens(day: PriceDay): boolean {
  if (day.usage.length === 0) return true;
  const tokens = tokensOf(day);
  const sum = (isWanted: (kind: Kind) => boolean) =>
    KINDS.filter(isWanted).reduce((total, kind) => total + (tokens[kind] ?? 0), 0);
  const [input, output] = [
    day.rows.reduce((total, row) => total + row.input_tokens, 0),
    day.rows.reduce((total, row) => total + row.output_tokens, 0),
  ];
  return sum(isInput) === input && sum((kind) => !isInput(kind)) === output;
}
