import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { IS_LONG } from '@relay/testbed/long-form';
import { createLane } from '../harness/admin-client.ts';
import { bareEnvironment } from '../harness/bare-environment.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { reportFigures } from '../harness/figures.ts';
import { exchangeRaw } from '../harness/raw-exchange.ts';
import { RELAY_ENTRY } from '../harness/relay-entry.ts';
import { readRequestLog } from '../harness/request-log.ts';
import { until } from '../harness/until.ts';
import { type BillingProvider, startBillingProvider } from './billing-provider.ts';
import { loseRows, moveBackOneDay, timeOf } from './ledger-faults.ts';
import {
  anthropicCosts,
  anthropicUsage,
  type Booked,
  type ListPrice,
  openaiCosts,
  openaiUsage,
} from './provider-reports.ts';

// A provider that keeps its own books, and a ledger with a wrong price and ten lost rows: `relay reconcile` has to name exactly these.

const REQUESTS = IS_LONG ? 400 : 25;
const LOST = 10;
const SEED = Number(process.env['RELAY_RECONCILE_SEED'] ?? Date.now() % 1_000_000);
const DAY_MS = 86_400_000;
const ROWS_MS_MAX = 20_000;

const bill = new Map<string, ListPrice>([
  ['gpt-billed', { input: 2.5, cached: 1.25, write: 0, output: 10 }],
  ['gpt-billed-mini', { input: 0.15, cached: 0.075, write: 0, output: 0.6 }],
  ['claude-billed', { input: 3, cached: 0.3, write: 3.75, output: 15 }],
]);
/** The planted fault: Relay's price of this model is not the provider's. */
const WRONG = { model: 'gpt-billed-mini', field: 'output_cost_micros_per_1m_tokens', micros: 660_000 };

let deployment: Deployment;
let provider: BillingProvider;
let home: string;
const booked: Booked[] = [];
const policies = new Map<string, string>();
const endpoints = new Map<string, string>();
const figures = { days: 0, models: 0, differences: 0, price_rows_named: 0, lost_rows_named: 0, seed: SEED };

/** Mulberry32: the same tokens for the same seed. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

before(async () => {
  home = mkdtempSync(join(tmpdir(), 'relay-reconcile-'));
  [deployment, provider] = await Promise.all([startDeployment(), startBillingProvider(generator(SEED))]);
  for (const [model, price] of bill) {
    const isClaude = model.startsWith('claude');
    const { endpointIds } = await createLane(deployment.admin, {
      name: `lane of ${model}`,
      endpoints: [
        {
          baseUrl: provider.baseUrl,
          upstreamModel: model,
          provider: { preset_slug: isClaude ? 'anthropic' : 'openai' },
          ...(isClaude && { endpoint: { protocol: 'anthropic', route_kind: 'messages' } }),
        },
      ],
    });
    const [endpoint_id = ''] = endpointIds;
    const micros = (dollars: number) => Math.round(dollars * 1_000_000);
    const made = await deployment.admin.create('/api/relay/pricing-policies', {
      endpoint_id,
      input_cost_micros_per_1m_tokens: micros(price.input),
      cached_input_cost_micros_per_1m_tokens: micros(price.cached),
      ...(isClaude && { cache_write_5m_cost_micros_per_1m_tokens: micros(price.write) }),
      output_cost_micros_per_1m_tokens: model === WRONG.model ? WRONG.micros : micros(price.output),
    });
    policies.set(model, made.id);
    endpoints.set(model, endpoint_id);
  }
  for (let turn = 0; turn < REQUESTS; turn += 1) for (const model of bill.keys()) await request(model);
  await until(async () => (await readRequestLog(deployment.admin)).length >= booked.length, ROWS_MS_MAX);
  // So that the books have two days.
  await moveBackOneDay(deployment.postgres.url, endpoints.get('claude-billed') ?? '');
});

after(async () => {
  reportFigures(figures);
  await Promise.all([deployment.stop(), provider.stop()]);
  rmSync(home, { recursive: true, force: true });
});

const requestIds: string[] = [];

async function request(model: string): Promise<void> {
  const path = model.startsWith('claude') ? 'messages' : 'chat/completions';
  const { status, headers, body } = await exchangeRaw({
    url: `${deployment.url}/v1/${path}`,
    headers: { authorization: `Bearer ${deployment.apiToken}` },
    body: JSON.stringify({
      model: `lane of ${model}`,
      max_tokens: 1_000,
      messages: [{ role: 'user', content: 'Hi.' }],
    }),
  });
  assert.equal(status, 200, body.toString());
  const id = String(headers['x-request-id']);
  const served = provider.served.at(-1);
  assert.equal(served?.model, model);
  requestIds.push(id);
  booked.push({ ...served, atMs: timeOf(id) - (model.startsWith('claude') ? DAY_MS : 0) });
}

interface Reconciled {
  readonly differences: number;
  readonly missing_in_relay_requests: number;
  readonly missing_at_provider_requests: number;
  readonly days: readonly {
    readonly day: string;
    readonly model: string;
    readonly equal: boolean;
    readonly missing_in_relay: readonly {
      readonly from: string;
      readonly requests: number;
      readonly input_tokens: number;
      readonly output_tokens: number;
    }[];
    readonly price_rows: readonly {
      readonly pricing_policy_id: string;
      readonly field: string;
      readonly price_micros: number;
      readonly billed_micros: number;
      readonly certain: boolean;
    }[];
  }[];
}

async function reconcile(files: Readonly<Record<string, unknown>>, ...options: string[]) {
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(home, name), typeof content === 'string' ? content : JSON.stringify(content));
  const env = {
    ...bareEnvironment(),
    HOME: home,
    RELAY_SERVER: deployment.url,
    RELAY_ADMIN_TOKEN: deployment.adminToken,
  };
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    const args = [RELAY_ENTRY, 'reconcile', ...Object.keys(files), ...options];
    execFile(process.execPath, args, { cwd: home, env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

const ofOpenai = () => booked.filter(({ model }) => model.startsWith('gpt'));
const ofAnthropic = () => booked.filter(({ model }) => model.startsWith('claude'));

describe('relay reconcile', { concurrency: 1 }, () => {
  it('finds the books of both providers equal, tokens and money, where the prices are right', async () => {
    const prices = new Map(bill).set(WRONG.model, { input: 0.15, cached: 0.075, write: 0, output: 0.66 });
    const openai = await reconcile(
      { 'usage.json': openaiUsage(ofOpenai()), 'costs.json': openaiCosts(ofOpenai(), prices) },
      '--json',
    );
    assert.equal(openai.code, 0, openai.stdout + openai.stderr);
    const anthropic = await reconcile(
      { 'usage.json': anthropicUsage(ofAnthropic()), 'costs.json': anthropicCosts(ofAnthropic(), prices) },
      '--json',
    );
    assert.equal(anthropic.code, 0, anthropic.stdout + anthropic.stderr);
    const days = [openai, anthropic].flatMap(({ stdout }) => (JSON.parse(stdout) as Reconciled).days);
    figures.days = new Set(days.map(({ day }) => day)).size;
    figures.models = new Set(days.map(({ model }) => model)).size;
    assert.ok(figures.days >= 2);
    assert.equal(figures.models, bill.size);
  });

  it('names the wrong price and the ten lost rows, and nothing else', async () => {
    const lost = booked
      .map((each, place) => ({ ...each, id: requestIds[place] ?? '' }))
      .filter(({ model }) => model === 'gpt-billed')
      .slice(5, 5 + LOST);
    await loseRows(
      deployment.postgres.url,
      lost.map(({ id }) => id),
    );
    const files = { 'usage.json': openaiUsage(ofOpenai()), 'costs.json': openaiCosts(ofOpenai(), bill) };
    const { code, stdout } = await reconcile(files, '--json');
    assert.equal(code, 1);
    const found = JSON.parse(stdout) as Reconciled;
    figures.differences = found.differences;
    figures.lost_rows_named = found.missing_in_relay_requests;
    assert.equal(found.missing_at_provider_requests, 0);
    const gaps = found.days.flatMap(({ model, missing_in_relay }) =>
      missing_in_relay.map((gap) => ({ model, ...gap })),
    );
    assert.ok(gaps.every(({ model }) => model === 'gpt-billed'));
    const total = (of: (gap: (typeof gaps)[number]) => number) => gaps.reduce((sum, gap) => sum + of(gap), 0);
    assert.deepEqual(
      [
        total(({ requests }) => requests),
        total((gap) => gap.input_tokens),
        total((gap) => gap.output_tokens),
      ],
      [
        LOST,
        lost.reduce((sum, { input }) => sum + input, 0),
        lost.reduce((sum, { output }) => sum + output, 0),
      ],
      `seed ${SEED}`,
    );
    const hours = new Set(
      lost.map(({ atMs }) => new Date(Math.floor(atMs / 3_600_000) * 3_600_000).toISOString()),
    );
    assert.deepEqual(new Set(gaps.map(({ from }) => from)), hours);
    const named = new Set(
      found.days.flatMap(({ price_rows }) => price_rows.map((row) => JSON.stringify(row))),
    );
    figures.price_rows_named = named.size;
    assert.deepEqual(
      [...named].map((row) => JSON.parse(row) as Reconciled['days'][number]['price_rows'][number]),
      [
        {
          pricing_policy_id: policies.get(WRONG.model),
          endpoint_id: endpoints.get(WRONG.model),
          endpoint_name: `lane of ${WRONG.model} 1`,
          field: WRONG.field,
          service_tier: null,
          price_micros: WRONG.micros,
          billed_micros: 600_000,
          certain: true,
        },
      ],
    );
    const said = await reconcile(files, '--output', 'table');
    assert.equal(said.code, 1);
    assert.match(said.stdout, /gpt-billed: Relay has no record of \d+ requests? with/);
    assert.match(
      said.stdout,
      /output_cost_micros_per_1m_tokens of endpoint .+ is \$0\.66, but the bill says \$0\.60/,
    );
  });

  it('names the price among those that a bill of whole models may be of', async () => {
    const dayOf = ({ atMs }: Booked) => Math.floor(atMs / DAY_MS) * DAY_MS;
    const all = ofOpenai().filter(({ model }) => model === WRONG.model);
    const [day = 0] = all.map(dayOf);
    const mini = all.filter((each) => dayOf(each) === day);
    const price = bill.get(WRONG.model);
    const dollars = mini.reduce(
      (sum, { input, cached, output }) =>
        sum +
        (input - cached) * (price?.input ?? 0) +
        cached * (price?.cached ?? 0) +
        output * (price?.output ?? 0),
      0,
    );
    const rows = `start_time_iso,end_time_iso,amount_value,amount_currency,line_item\n${new Date(day).toISOString()},${new Date(day + DAY_MS).toISOString()},${(dollars / 1_000_000).toFixed(12)},usd,${WRONG.model}\n`;
    const { code, stdout } = await reconcile(
      { 'costs.csv': rows },
      '--json',
      '--provider',
      `lane of ${WRONG.model} 1`,
    );
    assert.equal(code, 1, stdout);
    const price_rows = (JSON.parse(stdout) as Reconciled).days.flatMap((each) => each.price_rows);
    const output = price_rows.find(({ field }) => field === WRONG.field);
    assert.equal(output?.billed_micros, 600_000, stdout);
    assert.equal(output.certain, price_rows.length === 1);
  });
});
