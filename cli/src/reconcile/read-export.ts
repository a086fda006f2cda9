import { exitCodes, ProgramError } from '../kit/program-error.ts';
import { parseJson } from '../kit/read-input.ts';
import { isObject } from '../kit/values.ts';
import {
  type CostRecord,
  DAY_MS,
  type ProviderExport,
  toleranceOf,
  type UsageRecord,
} from './export-record.ts';
import { parseCsv } from './parse-csv.ts';
import { anthropicCost, anthropicUsage } from './read-anthropic.ts';
import { openaiCost, openaiUsage } from './read-openai.ts';

type Fields = Readonly<Record<string, unknown>>;

/** One result with its time, from a page of an API or from a row of CSV. */
interface Result {
  readonly fields: Fields;
  readonly atMs: number;
  readonly spanMs: number;
}

/** A provider's usage or costs, as its API answers or its pages export them. */
export function readExport(text: string, name: string): ProviderExport {
  const isJson = /^\s*[[{]/.test(text);
  const pages = isJson ? pagesIn(parseJson(text, name)) : [];
  const results = isJson ? pages.flatMap(resultsOf) : parseCsv(text).flatMap(rowResult);
  const [first] = results;
  const format = first === undefined ? null : formatOf(first.fields);
  if (format === null)
    throw new ProgramError(`${name} is not a known usage or cost export.`, exitCodes.usage, {
      fix: 'Use the responses from OpenAI’s organization/usage and organization/costs or Anthropic’s usage_report and cost_report, grouped by model or line item, or the CSV from their consoles.',
    });
  const isPartial = pages.some(({ has_more }) => has_more === true);
  return { ...sorted(format, results), format, isPartial };
}

function pagesIn(value: unknown): Fields[] {
  return (Array.isArray(value) ? value : [value]).filter(isObject);
}

function resultsOf(page: Fields): Result[] {
  const buckets = Array.isArray(page['data']) ? page['data'].filter(isObject) : [];
  return buckets.flatMap((bucket) => {
    const atMs = timeOf(bucket['start_time'] ?? bucket['starting_at']);
    const endMs = timeOf(bucket['end_time'] ?? bucket['ending_at']);
    const results = Array.isArray(bucket['results']) ? bucket['results'].filter(isObject) : [];
    if (Number.isNaN(atMs)) return [];
    const spanMs = Number.isNaN(endMs) ? DAY_MS : endMs - atMs;
    return results.map((fields) => ({ fields, atMs, spanMs }));
  });
}

function rowResult(row: Fields): Result[] {
  const fields = Object.fromEntries(Object.entries(row).filter(([, value]) => value !== ''));
  const start = ['start_time_iso', 'start_time', 'usage_date_utc', 'starting_at', 'date', 'timestamp'];
  const end = ['end_time_iso', 'end_time', 'ending_at'];
  const [from, to] = [start, end].map((names) => names.map((each) => fields[each]).find(Boolean));
  const [atMs, endMs] = [timeOf(from), timeOf(to)];
  if (Number.isNaN(atMs)) return [];
  return [{ fields, atMs, spanMs: Number.isNaN(endMs) ? DAY_MS : endMs - atMs }];
}

/** Seconds since 1970, or RFC 3339; a date alone is a day in UTC. */
function timeOf(value: unknown): number {
  if (typeof value === 'number' || /^\d{9,11}$/.test(String(value))) return Number(value) * 1_000;
  const said = String(value);
  const hasZone = /(?:Z|[+-]\d\d:?\d\d)$/.test(said) || /^\d{4}-\d\d-\d\d$/.test(said);
  return Date.parse(hasZone ? said : `${said.replace(' ', 'T')}Z`);
}

function formatOf(fields: Fields): ProviderExport['format'] | null {
  const has = (...names: string[]) => names.some((name) => Object.hasOwn(fields, name));
  if (has('uncached_input_tokens', 'usage_input_tokens_no_cache', 'token_type', 'cost_usd'))
    return 'anthropic';
  if (has('input_tokens', 'n_context_tokens_total', 'line_item', 'num_model_requests')) return 'openai';
  return has('cost_type', 'context_window') ? 'anthropic' : null;
}

function sorted(format: ProviderExport['format'], results: readonly Result[]) {
  const [usageOf, costOf] = format === 'openai' ? [openaiUsage, openaiCost] : [anthropicUsage, anthropicCost];
  const usage: UsageRecord[] = [];
  const costs: CostRecord[] = [];
  const digits: number[] = [];
  let otherCosts = 0;
  for (const { fields, atMs, spanMs } of results) {
    const isCost = ['amount', 'amount_value', 'cost_usd'].some((name) => Object.hasOwn(fields, name));
    if (isCost) {
      const cost = costOf(fields, atMs);
      digits.push(cost.digits);
      if (cost.record === null) otherCosts += 1;
      else costs.push(cost.record);
    } else {
      const record = usageOf(fields, atMs, spanMs);
      if (record !== null) usage.push(record);
    }
  }
  return { usage, costs, otherCosts, tolerancePicos: toleranceOf(digits) };
}
