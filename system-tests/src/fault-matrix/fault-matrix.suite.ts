import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { WireProtocol } from '@relay/contract';
import { faultNames, type ProviderSim, startProviderSim } from '@relay/provider-sim';
import { freePort } from '@relay/testbed';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { reportFigures } from '../harness/figures.ts';
import { healEndpoint } from '../harness/heal-endpoint.ts';
import { ledgerOverApi } from '../harness/ledger.ts';
import { protocolOf } from '../harness/mode.ts';
import { keepAliveAgent } from '../harness/raw-exchange.ts';
import { type OnServers, severalProcesses } from '../harness/stores.ts';
import { abortCells, runAbortCell } from './abort-cells.ts';
import { cooldownCells, type Fleet } from './cooldown-cells.ts';
import { allCells, faultRows } from './fault-rows.ts';
import { type Matrix, nameOf, runCell } from './run-cell.ts';
import { createSlots, FIRST_MODEL, SECOND_MODEL } from './slots.ts';

// Every provider fault in every request mode, with and without a fallback.

const AT_ONCE = 8;
/** Nothing heals an endpoint behind a closed port, so each cell has its own. */
const closedPortCells = (protocol: WireProtocol): number =>
  allCells().filter(({ row, mode }) => row.bench === 'closed port' && protocolOf(mode) === protocol).length;
/** Long enough for a busy machine, short enough for a few hundred cells. */
const UPSTREAM_MS_MAX = 1_500;

let deployment: Deployment;
let second: ProviderSim;
let reference: ProviderSim;
let matrix: Matrix;
let fleet: Fleet;
let cells = 0;
let wrong = 0;

function cell(name: string, work: () => Promise<void>, test: OnServers['it'] = it): void {
  test(name, async () => {
    cells += 1;
    try {
      await work();
    } catch (error) {
      wrong += 1;
      throw error;
    }
  });
}

before(async () => {
  [deployment, second, reference] = await Promise.all([
    startDeployment({
      processes: 2,
      provider: { models: [FIRST_MODEL] },
      env: {
        RELAY_UPSTREAM_HEADERS_TIMEOUT_MS: String(UPSTREAM_MS_MAX),
        RELAY_UPSTREAM_IDLE_TIMEOUT_MS: String(UPSTREAM_MS_MAX),
      },
    }),
    startProviderSim({ models: [SECOND_MODEL] }),
    startProviderSim({ models: [FIRST_MODEL, SECOND_MODEL] }),
  ]);
  const slots = await createSlots({
    admin: deployment.admin,
    first: deployment.provider,
    second,
    closedPort: await freePort(),
    counts: {
      openai: { plain: AT_ONCE, hurried: 2, 'closed port': closedPortCells('openai') },
      anthropic: { plain: AT_ONCE, hurried: 2, 'closed port': closedPortCells('anthropic') },
    },
    heal: ({ first, laneOfFirst }) => healEndpoint(deployment, laneOfFirst.name, first.id),
  });
  matrix = {
    url: deployment.url,
    apiToken: deployment.apiToken,
    agent: keepAliveAgent(),
    slots,
    first: deployment.provider,
    second,
    reference,
    ledger: ledgerOverApi(deployment.admin),
  };
  fleet = {
    matrix,
    admin: deployment.admin,
    otherUrl: deployment.processes[1]?.url ?? '',
    firstProviderId: slots.firstProviderId,
    secondProviderId: slots.secondProviderId,
  };
});

after(async () => {
  matrix.agent.destroy();
  await matrix.ledger.close();
  await Promise.all([deployment.stop(), second.close(), reference.close()]);
  reportFigures({ cells, wrong });
});

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
  for (const each of allCells()) cell(nameOf(each), () => runCell(matrix, each));
});

describe('cooldown and bounds', { concurrency: AT_ONCE }, () => {
  for (const { name, run, ofSeveral } of cooldownCells)
    cell(name, () => run(fleet), ofSeveral === true ? severalProcesses.it : it);
});

describe('a client that hangs up', () => {
  for (const each of abortCells) cell(each.name, () => runAbortCell(matrix, each));
});
