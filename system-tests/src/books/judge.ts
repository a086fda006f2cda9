import { headers as names, type RequestDetail } from '@relay/contract';
import { type Report, toldIn } from './bill.ts';
import type { LimitState, Limits } from './limits.ts';
import type { Bench, BenchEndpoint, Price } from './site.ts';

/** More than this is counted for no attempt at an endpoint without a context window. */
const USAGE_MAX = 10_000_000;

/** One request as the provider saw it. */
export interface Seen {
  readonly endpoint: string;
  readonly reports: readonly Report[];
}

/** What the request log says of one attempt. */
export interface Attempt {
  readonly endpointId: string;
  readonly providerId: string;
  readonly sent: boolean;
  readonly source: string;
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly costMicros: number;
}

export interface Evidence {
  readonly bench: Bench;
  /** Not by the caller of the bench. */
  readonly asOther: boolean;
  readonly laneSlug: string;
  /** Every request that the provider saw meanwhile, in order. */
  readonly bill: readonly Seen[];
  readonly detail: RequestDetail;
  readonly before: Limits;
  readonly after: Limits;
  readonly subjects: ReadonlyMap<string, string>;
  /** Of the answer that the client got; null when it got none. */
  readonly headers: Readonly<Record<string, string>> | null;
}

export function attemptsOf({ attempts }: RequestDetail): Attempt[] {
  return attempts.map((attempt) => ({
    endpointId: attempt.endpoint_id,
    providerId: attempt.provider_id,
    sent: attempt.sent,
    source: attempt.usage_source,
    input: attempt.input_tokens ?? 0,
    output: attempt.output_tokens ?? 0,
    cached: attempt.cached_input_tokens ?? 0,
    costMicros: attempt.cost_micros ?? 0,
  }));
}

const sumOf = (list: readonly Attempt[], of: (attempt: Attempt) => number) =>
  list.reduce((sum, each) => sum + of(each), 0);

/** What is wrong: the sums of the limits, the row and the attempts, what was reported, and what was not sent. */
export function faultsOf(evidence: Evidence): string[] {
  const attempts = attemptsOf(evidence.detail);
  return [
    ...rowFaults(evidence, attempts),
    ...billFaults(evidence, attempts),
    ...headerFaults(evidence),
    ...limitFaults(evidence, attempts),
  ];
}

function rowFaults({ detail }: Evidence, attempts: readonly Attempt[]): string[] {
  const faults: string[] = [];
  const expect = (what: string, row: number | null, sum: number) => {
    if ((row ?? 0) !== sum) faults.push(`row ${what} ${row}, its attempts ${sum}`);
  };
  expect(
    'input',
    detail.input_tokens,
    sumOf(attempts, ({ input }) => input),
  );
  expect(
    'output',
    detail.output_tokens,
    sumOf(attempts, ({ output }) => output),
  );
  expect(
    'cached',
    detail.cached_input_tokens,
    sumOf(attempts, ({ cached }) => cached),
  );
  expect(
    'cost',
    detail.cost_micros,
    sumOf(attempts, ({ costMicros }) => costMicros),
  );
  return faults;
}

/** Compares each request that the provider saw with the attempt that it was. */
function billFaults({ bench, bill, detail }: Evidence, attempts: readonly Attempt[]): string[] {
  const faults: string[] = [];
  const left = [...bill];
  for (const [index, attempt] of attempts.entries()) {
    const of = `attempt ${index + 1}`;
    const used = attempt.input + attempt.output + attempt.costMicros;
    const at = left.findIndex(({ endpoint }) => bench.endpoints.get(endpoint)?.id === attempt.endpointId);
    const [seen] = attempt.sent && at >= 0 ? left.splice(at, 1) : [];
    if (!attempt.sent && used > 0)
      faults.push(`${of} was not sent and costs ${attempt.input} + ${attempt.output}`);
    if (attempt.sent && seen === undefined) faults.push(`${of} counts as sent, and the provider saw nothing`);
    if (seen === undefined) continue;
    const endpoint = bench.endpoints.get(seen.endpoint);
    faults.push(...reportFaults(of, attempt, seen.reports, endpoint, detail));
  }
  for (const { endpoint } of left)
    faults.push(`the provider saw a request at ${endpoint}, of which there is no attempt`);
  return faults;
}

function reportFaults(
  of: string,
  attempt: Attempt,
  reports: readonly Report[],
  endpoint: BenchEndpoint | undefined,
  detail: RequestDetail,
): string[] {
  const told = toldIn(reports);
  if (told === null) return [];
  const said = `${of}: reported ${told.input ?? '-'} + ${told.output ?? '-'}, counted ${attempt.input} + ${attempt.output}`;
  if ((told.input ?? 0) + (told.output ?? 0) > USAGE_MAX) {
    const isBounded = attempt.input + attempt.output === USAGE_MAX && detail.reported_usage !== null;
    return isBounded ? [] : [`${said}, not ${USAGE_MAX}`];
  }
  const { input, output, cached } = told;
  const isWhole = input !== undefined && output !== undefined;
  if (input !== undefined && attempt.input !== input) return [said];
  if (output !== undefined && attempt.output !== output) return [said];
  if (!isWhole) return attempt.source === 'reported' ? [`${said}, as if all had been reported`] : [];
  if (cached !== undefined && attempt.cached !== cached)
    return [`${of}: reported ${cached} cached, counted ${attempt.cached}`];
  const cost = endpoint === undefined ? attempt.costMicros : costOf(endpoint.price, told);
  return attempt.costMicros === cost ? [] : [`${of}: costs ${cost}, counted ${attempt.costMicros}`];
}

function costOf(price: Price, { input = 0, cached = 0, output = 0 }: Report): number {
  return (input - cached) * price.input + cached * price.cached + output * price.output;
}

function headerFaults({ headers, detail }: Evidence): string[] {
  if (headers === null) return [];
  const total = (detail.input_tokens ?? 0) + (detail.output_tokens ?? 0);
  const expected = [
    [names.actualInputTokens, detail.input_tokens ?? 0],
    [names.actualOutputTokens, detail.output_tokens ?? 0],
    [names.actualTotalTokens, total],
    [names.actualCostMicros, detail.cost_micros ?? 0],
  ] as const;
  return expected.flatMap(([name, value]) => {
    const sent = headers[name.toLowerCase()];
    return sent === undefined || Number(sent) === value ? [] : [`${name}: ${sent}, row ${value}`];
  });
}

/** Every limit of the bench moved by what the attempts in its scope used, and no other did. */
function limitFaults(evidence: Evidence, attempts: readonly Attempt[]): string[] {
  const { before, after, bench } = evidence;
  const faults: string[] = [];
  for (const [id, state] of after) {
    const scoped = scopeOf(evidence, state, attempts);
    if (scoped === null) continue;
    const moved = state.used - (before.get(id)?.used ?? 0);
    const expected = amountOf(scoped.attempts, state.metric);
    if (moved !== expected)
      faults.push(
        `limit on ${state.metric} of ${scoped.name} moved by ${moved}, its attempts used ${expected}`,
      );
    if (state.reserved !== 0)
      faults.push(`limit on ${state.metric} of ${scoped.name} still reserves ${state.reserved}`);
  }
  if (!bench.lanes.has(evidence.laneSlug)) faults.push(`no lane ${evidence.laneSlug}`);
  return faults;
}

export function amountOf(attempts: readonly Attempt[], metric: LimitState['metric']): number {
  if (metric === 'requests') return attempts.filter(({ sent }) => sent).length;
  return sumOf(attempts, ({ input, output, costMicros }) =>
    metric === 'tokens' ? input + output : costMicros,
  );
}

/** The attempts that count toward a limit; null if it is not one of this bench. */
function scopeOf(
  { bench, asOther, laneSlug, subjects }: Evidence,
  { policyId, kind, scopeType, scopeId }: LimitState,
  attempts: readonly Attempt[],
): { readonly name: string; readonly attempts: readonly Attempt[] } | null {
  if (kind !== 'resource') {
    const subject = subjects.get(policyId);
    if (subject !== bench.keyId && subject !== bench.userId) return null;
    return { name: kind === 'user' ? 'the member' : 'the key', attempts: asOther ? [] : attempts };
  }
  if (scopeType === 'lane') {
    const slug = [...bench.lanes].find(([, id]) => id === scopeId)?.[0];
    return slug === undefined ? null : { name: `lane ${slug}`, attempts: slug === laneSlug ? attempts : [] };
  }
  for (const { id, slug, providerId } of bench.endpoints.values()) {
    if (scopeType === 'endpoint' && id === scopeId)
      return {
        name: `endpoint ${slug}`,
        attempts: attempts.filter(({ endpointId }) => endpointId === id),
      };
    if (scopeType === 'provider' && providerId === scopeId)
      return {
        name: `provider ${slug}`,
        attempts: attempts.filter((each) => each.providerId === providerId),
      };
  }
  return null;
}

/** A row and its attempts in one line, for a message. */
export function sayRow(detail: RequestDetail, attempts: readonly Attempt[]): string {
  const row = `${detail.state} ${detail.http_status} ${detail.error_code ?? ''} ${detail.usage_source} ${detail.input_tokens} + ${detail.output_tokens} = ${detail.cost_micros} µ$`;
  const each = attempts.map(
    ({ sent, source, input, output, costMicros }) =>
      `${sent ? '' : 'not sent '}${source} ${input} + ${output} = ${costMicros} µ$`,
  );
  return `row ${row}; attempts [${each.join('; ')}]`;
}
