import {
  DAY_MS,
  HOUR_MS,
  INPUT_KINDS,
  KINDS,
  type Kind,
  type ProviderExport,
  picosIn,
} from './export-record.ts';
import { matchModels } from './match-models.ts';
import { checkPrices, type NamedPrice } from './name-prices.ts';
import type { Endpoint, Metered, Policy } from './relay-side.ts';

export interface Counts {
  readonly requests: number | null;
  readonly input_tokens: number;
  readonly cached_input_tokens: number;
  readonly output_tokens: number;
}

/** Requests that only one side has, in a time. */
export interface Missing extends Counts {
  readonly from: string;
  readonly to: string;
}

export interface ComparedDay {
  readonly day: string;
  readonly model: string;
  readonly equal: boolean;
  /** Null where the export has no usage. */
  readonly usage: { readonly relay: Counts; readonly provider: Counts } | null;
  /** Null where the export has no costs. Exact, in dollars. */
  readonly cost_usd: { readonly relay: string; readonly provider: string } | null;
  /** What the provider has and Relay has not. */
  readonly missing_in_relay: readonly Missing[];
  /** What Relay has and the provider has not. */
  readonly missing_at_provider: readonly Missing[];
  readonly price_rows: readonly NamedPrice[];
  /** Requests of Relay whose tokens are estimates. */
  readonly estimated_requests: number;
}

export interface Question {
  readonly exports: readonly ProviderExport[];
  readonly metered: readonly Metered[];
  readonly endpoints: readonly Endpoint[];
  readonly policies: readonly Policy[];
}

/** Every day and model that either side has, compared. */
export function compare({ exports, metered, endpoints, policies }: Question): ComparedDay[] {
  const usage = exports.flatMap((each) => each.usage);
  const costs = exports.flatMap((each) => each.costs);
  const isHourly = usage.length > 0 && usage.every(({ spanMs }) => spanMs <= HOUR_MS);
  const stepMs = isHourly ? HOUR_MS : DAY_MS;
  const names = matchModels(
    [...usage, ...costs].map(({ model }) => model),
    metered.map(modelOf),
  );
  const theirs = <T extends { readonly model: string; readonly atMs: number }>(records: readonly T[]) =>
    Map.groupBy(records, ({ model, atMs }) => keyOf(names.ofExport.get(model) ?? model, atMs));
  const ours = Map.groupBy(metered, (row) =>
    keyOf(names.ofRelay.get(modelOf(row)) ?? modelOf(row), Date.parse(row.at)),
  );
  const [usageOf, costsOf] = [theirs(usage), theirs(costs)];
  const billing = exports.filter((each) => each.costs.length > 0);
  const tolerancePicos = billing.map((each) => each.tolerancePicos).reduce(larger, 0n);
  const keys = [...new Set([...usageOf.keys(), ...costsOf.keys(), ...ours.keys()])].sort();
  const days = keys.map((key) => {
    const rows = ours.get(key) ?? [];
    const [day = '', model = ''] = key.split('\n');
    const bills = costsOf.get(key) ?? [];
    const relayPicos = rows.reduce((sum, { cost_usd }) => sum + (picosIn(cost_usd)?.picos ?? 0n), 0n);
    const billed = bills.reduce((sum, { picos }) => sum + picos, 0n);
    const off = relayPicos > billed ? relayPicos - billed : billed - relayPicos;
    const isSameCost = costs.length === 0 || off <= tolerancePicos * BigInt(Math.max(1, bills.length));
    const sides = { rows, usage: usageOf.get(key) ?? [], costs: bills };
    return { day, model, ...sides, relayPicos, billed, isSameCost };
  });
  // A price explains a difference of cost. Where there is none, today's price says nothing about that day.
  const differing = days.filter(({ isSameCost }) => !isSameCost);
  const named = checkPrices({ days: differing, endpoints, policies, tolerancePicos });
  return days.map((each) => {
    const counted = usage.length === 0 ? null : countedOf(each.usage, each.rows);
    const gaps = usage.length === 0 ? NO_GAPS : gapsOf(each.usage, each.rows, stepMs);
    const price_rows = named.get(`${each.day}\n${each.model}`) ?? [];
    const isEqual = each.isSameCost && gaps.here.length + gaps.there.length === 0;
    return {
      day: each.day,
      model: each.model,
      equal: isEqual,
      usage: counted,
      cost_usd: costs.length === 0 ? null : { relay: usdOf(each.relayPicos), provider: usdOf(each.billed) },
      missing_in_relay: gaps.here,
      missing_at_provider: gaps.there,
      price_rows,
      estimated_requests: each.rows.reduce((sum, row) => sum + row.estimated_requests, 0),
    };
  });
}

function larger(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}

function modelOf({ upstream_model, endpoint_id }: Metered): string {
  return upstream_model ?? `deleted endpoint ${endpoint_id}`;
}

function keyOf(model: string, atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 10)}\n${model}`;
}

type Usage = ProviderExport['usage'];

function countedOf(usage: Usage, rows: readonly Metered[]) {
  return { relay: countsOfRelay(rows), provider: countsOfProvider(usage) };
}

function countsOfRelay(rows: readonly Metered[]): Counts {
  const sum = (name: 'requests' | 'input_tokens' | 'cached_input_tokens' | 'output_tokens') =>
    rows.reduce((total, row) => total + row[name], 0);
  return {
    requests: sum('requests'),
    input_tokens: sum('input_tokens'),
    cached_input_tokens: sum('cached_input_tokens'),
    output_tokens: sum('output_tokens'),
  };
}

function countsOfProvider(usage: Usage): Counts {
  const sum = (kinds: readonly Kind[]) =>
    usage.reduce((total, { tokens }) => total + kinds.reduce((all, kind) => all + (tokens[kind] ?? 0), 0), 0);
  const isCounted = usage.length > 0 && usage.every(({ requests }) => requests !== null);
  return {
    requests: isCounted
      ? usage.reduce((total, { requests }) => total + (requests ?? 0), 0)
      : usage.length === 0
        ? 0
        : null,
    input_tokens: sum(INPUT_KINDS),
    cached_input_tokens: sum(['cached_input']),
    output_tokens: sum(KINDS.filter((kind) => !INPUT_KINDS.includes(kind))),
  };
}

interface Gaps {
  readonly here: readonly Missing[];
  readonly there: readonly Missing[];
}
const NO_GAPS: Gaps = { here: [], there: [] };

/** What one side lacks, hour by hour where the export has hours. */
function gapsOf(usage: Usage, rows: readonly Metered[], stepMs: number): Gaps {
  const startOf = (atMs: number) => Math.floor(atMs / stepMs) * stepMs;
  const theirs = Map.groupBy(usage, ({ atMs }) => startOf(atMs));
  const ours = Map.groupBy(rows, ({ at }) => startOf(Date.parse(at)));
  const [here, there]: [Missing[], Missing[]] = [[], []];
  for (const atMs of [...new Set([...theirs.keys(), ...ours.keys()])].sort((a, b) => a - b)) {
    const [provider, relay] = [countsOfProvider(theirs.get(atMs) ?? []), countsOfRelay(ours.get(atMs) ?? [])];
    const off = minus(provider, relay);
    const time = { from: new Date(atMs).toISOString(), to: new Date(atMs + stepMs).toISOString() };
    const side = sideOf(off);
    if (side > 0) here.push({ ...time, ...off });
    if (side < 0) there.push({ ...time, ...minus(relay, provider) });
  }
  return { here, there };
}

/** Above zero where the provider has more. Requests decide; where they are equal or not counted, tokens do. */
function sideOf({ requests, input_tokens, output_tokens, cached_input_tokens }: Counts): number {
  if (requests !== null && requests !== 0) return requests;
  return input_tokens || output_tokens || cached_input_tokens;
}

function minus(one: Counts, other: Counts): Counts {
  return {
    requests: one.requests === null || other.requests === null ? null : one.requests - other.requests,
    input_tokens: one.input_tokens - other.input_tokens,
    cached_input_tokens: one.cached_input_tokens - other.cached_input_tokens,
    output_tokens: one.output_tokens - other.output_tokens,
  };
}

/** Exact, without trailing zeros. */
function usdOf(picos: bigint): string {
  const digits = String(picos < 0n ? -picos : picos).padStart(13, '0');
  const said = `${digits.slice(0, -12)}.${digits.slice(-12)}`.replace(/\.?0+$/, '');
  return picos < 0n ? `-${said}` : said;
}
