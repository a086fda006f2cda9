import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { compileValidator, type LimitUsage, type RequestLogEntry, routes } from '@relay/contract';
import {
  faultNames,
  type GuardrailSim,
  type ProviderSim,
  startGuardrailSim,
  startProviderSim,
} from '@relay/provider-sim';
import { freePort } from '@relay/testbed';
import { IS_LONG } from '@relay/testbed/long-form';
import { testSeed } from '@relay/testbed/random';
import OpenAI from 'openai';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { reportFigures } from '../harness/figures.ts';
import { protocolOf } from '../harness/mode.ts';
import { keepAliveAgent } from '../harness/raw-exchange.ts';
import { readRequestLog } from '../harness/request-log.ts';
import { type OnServers, severalProcesses } from '../harness/stores.ts';
import { until } from '../harness/until.ts';
import { allCells, type Cell, faultRows, nameOf, sampleOf, type Who } from './cells.ts';
import { checkAnswer, checkProviders, leaksOf } from './check-answer.ts';
import { checkRow, isMetered } from './check-row.ts';
import { cooldownCells, createBounded, type Fleet } from './cooldown-cells.ts';
import { billingFaults, countedModes, hangUpAtEachFrame, hangUps, runHangUp } from './hang-ups.ts';
import { createPlaces, MODELS, type Place, type PlaceSetup, WAIT_MS_MAX } from './places.ts';
import { ELSEWHERE, faultFor, toldOf } from './quotes.ts';
import { type Matrix, runCell } from './run-cell.ts';

// Every provider fault in every request mode, by the candidates that are left: what client, providers, row and limits show. The short
// form tries one choice of candidates for each fault and mode, which the seed chooses.

const AT_ONCE = 10;
/** Long enough for a busy machine, short enough for a few hundred cells. */
const UPSTREAM_MS_MAX = 3_000;
const ROWS_MS_MAX = 20_000;
const HANG_UPS_PER_FRAME = IS_LONG ? 4 : 1;

const seed = testSeed();
const cells = IS_LONG ? allCells() : sampleOf(allCells(), seed);
let deployment: Deployment;
let sims: ProviderSim[] = [];
let guardrails: GuardrailSim;
let elsewhere: ProviderSim;
let matrix: Matrix;
let fleet: Fleet;
let places: ReadonlyMap<object, Place>;
const redirected = {};
const figures = { seed, cells: 0, wrong: 0, leaks: 0, hang_ups: 0, zero_billed: 0, over_billed: 0 };
const metered: { readonly cell: Cell; readonly tokens: number | null }[] = [];

function cell(name: string, work: () => Promise<void>, test: OnServers['it'] = it): void {
  test(name, async () => {
    figures.cells += 1;
    try {
      await work();
    } catch (error) {
      figures.wrong += 1;
      throw error;
    }
  });
}

const plain: PlaceSetup = {
  bench: 'plain',
  protocol: 'openai',
  members: ['first', 'second'],
  allowFallback: true,
  waitMsMax: 0,
  guarded: false,
  priced: false,
  limited: false,
};

function setups(): Map<object, PlaceSetup> {
  const found = new Map<object, PlaceSetup>();
  for (const each of cells) {
    found.set(each, {
      bench: each.row.bench ?? 'plain',
      protocol: protocolOf(each.mode),
      members: each.left === 'none' ? ['first'] : ['first', 'second'],
      allowFallback: each.left !== 'one, fallback not allowed',
      waitMsMax: each.row.bench === 'patient' ? WAIT_MS_MAX : 0,
      guarded: each.guarded,
      priced: isMetered(each),
      limited: isMetered(each),
    });
  }
  for (const each of cooldownCells) {
    const members: Who[] = each.alone === true ? ['first'] : ['first', 'second'];
    found.set(each, { ...plain, members, waitMsMax: each.waitMsMax });
  }
  for (const each of hangUps) found.set(each, { ...plain, protocol: protocolOf(each.mode) });
  for (const mode of countedModes) found.set(mode, { ...plain, protocol: protocolOf(mode), priced: true });
  return found.set(redirected, { ...plain, members: ['first'] });
}

before(async () => {
  const models = Object.values(MODELS);
  [deployment, guardrails, ...sims] = await Promise.all([
    startDeployment({
      processes: 2,
      provider: { models },
      env: {
        RELAY_UPSTREAM_HEADERS_TIMEOUT_MS: String(UPSTREAM_MS_MAX),
        RELAY_UPSTREAM_IDLE_TIMEOUT_MS: String(UPSTREAM_MS_MAX),
      },
    }),
    startGuardrailSim({ serviceKey: 'unused' }),
    ...['second', 'reference', 'elsewhere'].map(() => startProviderSim({ models })),
  ]);
  const { admin, url, apiToken, provider: first } = deployment;
  const [second = first, reference = first] = sims;
  elsewhere = sims[2] ?? first;
  // While there is little to configure: each change is loaded with all that there is.
  const bounded = await createBounded(admin, first.baseUrl);
  const wanted = setups();
  const made = await createPlaces(
    admin,
    {
      first: first.baseUrl,
      second: second.baseUrl,
      closedPort: await freePort(),
      inspector: guardrails.urlOf('allow'),
    },
    [...wanted.values()],
  );
  places = new Map([...wanted.keys()].map((key, index) => [key, made[index] as Place]));
  matrix = {
    url,
    apiToken,
    admin,
    agent: keepAliveAgent(),
    providers: { first, second },
    reference,
    elsewhere: `${elsewhere.baseUrl}/chat/completions`,
    placeOf: (key) => places.get(key) ?? assert.fail('a cell without a place'),
    sent: [],
  };
  fleet = { matrix, otherUrl: deployment.processes[1]?.url ?? '', bounded };
});

after(async () => {
  matrix?.agent.destroy();
  await Promise.all([deployment?.stop(), guardrails?.close(), ...sims.map((each) => each.close())]);
  reportFigures(figures);
});

async function judge(given: Cell): Promise<void> {
  const seen = await runCell(matrix, given);
  const each = seen.cell;
  const leaks = leaksOf(seen);
  figures.leaks += leaks.length;
  assert.deepEqual(leaks, []);
  checkProviders(each, seen);
  checkAnswer(matrix, each, seen);
  checkRow(each, seen);
  if (isMetered(each)) metered.push({ cell: each, tokens: seen.detail.total_tokens });
}

describe('the table', () => {
  it('has a row for every fault the simulated provider knows', () => {
    const covered = new Set(faultRows.flatMap(({ fault }) => Object.keys(fault)));
    assert.deepEqual(
      faultNames.filter((name) => !covered.has(name)),
      [],
    );
  });
});

describe('the fault matrix', { concurrency: AT_ONCE }, () => {
  for (const each of cells) cell(nameOf(each), () => judge(each));
});

describe('cooldown and bounds', { concurrency: AT_ONCE }, () => {
  for (const each of cooldownCells)
    cell(each.name, () => each.run(fleet, each), each.ofSeveral === true ? severalProcesses.it : it);
});

describe('a client that hangs up', () => {
  for (const each of hangUps) cell(each.name, () => runHangUp(matrix, each));
});

describe('a client of OpenAI', () => {
  it('gets 502 for a redirect, and sends nothing to where it leads', async () => {
    const { first, lane } = matrix.placeOf(redirected);
    const fault = faultFor({ status: 307, redirectTo: ELSEWHERE }, first.key, matrix.elsewhere);
    matrix.providers.first.script({ match: { key: first.key }, fault });
    const client = new OpenAI({ apiKey: matrix.apiToken, baseURL: `${matrix.url}/v1`, maxRetries: 0 });
    const messages = [{ role: 'user' as const, content: 'A secret plan' }];
    const error: unknown = await client.chat.completions
      .create({ model: lane.name, messages })
      .catch((reason: unknown) => reason);
    assert.ok(error instanceof OpenAI.InternalServerError, String(error));
    assert.deepEqual([error.status, error.code], [502, 'upstream_redirected']);
  });
});

describe('clients that hang up at each frame of a stream', () => {
  let names: string[] = [];
  let billing: ReturnType<typeof billingFaults> = { zeroBilled: [], overBilled: [], missing: [] };

  it('are all met, and each has its row', async () => {
    names = await hangUpAtEachFrame(matrix, HANG_UPS_PER_FRAME);
    billing = billingFaults(matrix, names, await logOfAll());
    figures.hang_ups = names.length;
    assert.deepEqual(billing.missing, []);
  });

  it('are billed for what they asked and for what they got', () => {
    figures.zero_billed = billing.zeroBilled.length;
    assert.deepEqual(billing.zeroBilled, []);
  });

  it('are not billed for more output than the provider wrote, nor for more than its input besides', () => {
    figures.over_billed = billing.overBilled.length;
    assert.deepEqual(billing.overBilled, []);
  });
});

describe('after all of it', () => {
  it('every request has one row', async () => {
    const log = await logOfAll();
    const named = log.flatMap(({ client_request_id }) => client_request_id ?? []);
    assert.deepEqual(named.sort(), [...matrix.sent].sort());
  });

  it('the limits hold what the rows say', async () => {
    const { body } = await matrix.admin.call('GET', '/api/relay/limits/usage');
    const used = new Map((body as LimitUsage[]).map((each) => [each.scope_id, each]));
    assert.ok(metered.length > 0);
    for (const { cell: each, tokens } of metered) {
      const limit = used.get(matrix.placeOf(each).lane.id);
      assert.deepEqual([limit?.used, limit?.reserved], [tokens, 0], nameOf(each));
    }
  });

  it('the log, the sums and the limits are readable', async () => {
    for (const [path, route] of [
      ['/api/relay/requests?limit=1000', routes.listRequests],
      ['/api/relay/stats/summary', routes.getStatsSummary],
      ['/api/relay/stats/timeseries?metric=total_tokens', routes.getTimeseries],
      ['/api/relay/limits/usage', routes.listLimitUsage],
      ['/api/relay/live', routes.getLive],
    ] as const) {
      const { status, body } = await matrix.admin.call('GET', path);
      assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`);
      assert.deepEqual(compileValidator(route.success.schema)(body), { ok: true }, path);
    }
  });

  it('no third party has heard of a request', () => {
    figures.leaks += elsewhere.log.length;
    assert.deepEqual(
      elsewhere.log.map(({ path }) => path),
      [],
    );
  });

  it('no key is in the log of a process', () => {
    const logged = deployment.processes.map(({ logs }) => JSON.stringify(logs)).join('');
    const keys = [...places.values()].flatMap(({ first, second }) => [first.key, second.key]);
    const found = toldOf(logged, keys);
    figures.leaks += found.length;
    assert.deepEqual(found, []);
  });
});

/** The request log once it names every request that was sent. */
async function logOfAll(): Promise<RequestLogEntry[]> {
  let log: RequestLogEntry[] = [];
  await until(
    async () => {
      log = await readRequestLog(matrix.admin);
      return log.filter(({ client_request_id }) => client_request_id !== null).length >= matrix.sent.length;
    },
    ROWS_MS_MAX,
    500,
  );
  return log;
}
