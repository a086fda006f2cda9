import type { MeteredUsage, Showback, StatsSummary, Timeseries } from '@relay/contract';
import type { AdminClient } from '../harness/admin-client.ts';
import { type Attempt, amountOf } from './judge.ts';
import type { Limits } from './limits.ts';
import type { Books } from './run-situations.ts';

const DAY_MS = 86_400_000;
const PICOS = 1_000_000_000_000n;

/** Every sum that Relay shows of all requests, compared with the sum of their attempts; what is off. */
export async function sumsOff(admin: AdminClient, books: Books): Promise<string[]> {
  const attempts = books.rows.flatMap((row) => row.attempts);
  const off: string[] = [];
  const compare = (what: string, shown: unknown, expected: unknown) => {
    if (String(shown) !== String(expected))
      off.push(`${what}: ${String(shown)}, the attempts ${String(expected)}`);
  };
  const read = async <T>(path: string): Promise<T> => {
    const { status, body } = await admin.call('GET', `/api/relay/${path}`);
    if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
    return body as T;
  };
  const from = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS).toISOString();
  const to = new Date(Math.ceil(Date.now() / DAY_MS) * DAY_MS).toISOString();
  const total = sumOf(attempts);

  const summary = await read<StatsSummary>('stats/summary');
  compare('summary requests', summary.requests, books.rows.length);
  for (const state of ['completed', 'failed', 'cancelled'] as const)
    compare(
      `summary ${state}`,
      summary.request_states[state],
      books.rows.filter(({ detail }) => detail.state === state).length,
    );
  const showback = await read<Showback>(`stats/showback?group_by=key&from=${from}&to=${to}`);
  compare('showback input', showback.total.input_tokens, total.input);
  compare('showback output', showback.total.output_tokens, total.output);
  compare('showback cached', showback.total.cached_input_tokens, total.cached);
  compare('showback cost', picosOf(showback.total.cost_usd ?? '0'), picosOfMicros(total.costMicros));
  for (const [metric, expected] of [
    ['input_tokens', total.input],
    ['output_tokens', total.output],
    ['cost_micros', total.costMicros],
  ] as const) {
    const { series } = await read<Timeseries>(`stats/timeseries?metric=${metric}&from=${from}&to=${to}`);
    compare(
      `series ${metric}`,
      series.reduce((sum, each) => sum + (each.total ?? 0), 0),
      expected,
    );
  }
  const metered = await read<MeteredUsage>(`stats/metered?from=${from}&to=${to}`);
  const shown = Map.groupBy(metered.rows, ({ endpoint_id }) => endpoint_id ?? '');
  const used = Map.groupBy(attempts, ({ endpointId }) => endpointId);
  for (const endpoint of new Set([...shown.keys(), ...used.keys()])) {
    const rows = shown.get(endpoint) ?? [];
    const expected = sumOf(used.get(endpoint) ?? []);
    const sum = (of: (row: (typeof rows)[number]) => number) => rows.reduce((all, row) => all + of(row), 0);
    compare(
      `metered input of ${endpoint}`,
      sum((row) => row.input_tokens),
      expected.input,
    );
    compare(
      `metered output of ${endpoint}`,
      sum((row) => row.output_tokens),
      expected.output,
    );
    compare(
      `metered cost of ${endpoint}`,
      rows.reduce((all, row) => all + picosOf(row.cost_usd ?? '0'), 0n),
      picosOfMicros(expected.costMicros),
    );
  }
  for (const state of books.last.values()) {
    if (state.scopeType !== 'global' || state.kind !== 'resource') continue;
    const moved = state.used - usedIn(books.first, state.policyId);
    compare(`the organization's limit on ${state.metric}`, moved, amountOf(attempts, state.metric));
  }
  return off;
}

function usedIn(limits: Limits, policyId: string): number {
  return limits.get(policyId)?.used ?? 0;
}

function sumOf(attempts: readonly Attempt[]) {
  const sum = { input: 0, output: 0, cached: 0, costMicros: 0 };
  for (const { input, output, cached, costMicros } of attempts) {
    sum.input += input;
    sum.output += output;
    sum.cached += cached;
    sum.costMicros += costMicros;
  }
  return sum;
}

function picosOf(usd: string): bigint {
  const [whole = '0', fraction = ''] = usd.split('.');
  return BigInt(whole) * PICOS + BigInt(fraction.padEnd(12, '0'));
}

function picosOfMicros(micros: number): bigint {
  return BigInt(micros) * 1_000_000n;
}
