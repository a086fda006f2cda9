import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { reportFigures } from '../harness/figures.ts';
import { inputWays } from './input-ways.ts';
import { outputWays } from './output-ways.ts';
import { settledWays } from './settled-ways.ts';
import { METRICS, type Metric, setUp } from './site.ts';
import { tryHardWay, tryWay } from './try-way.ts';
import { type Way, WORTH } from './way.ts';

// Ways to make a request look cheaper than it is. Each is tried under a spend limit and under a token limit that are worth a few
// requests; more of them may pass than that by one, which is what an honest estimate can be wrong by. Under hard limits nothing may pass.

const ways = [...outputWays, ...inputWays, ...settledWays];
const AT_ONCE = 4;
let deployment: Deployment;
const over: string[] = [];
const overHard: string[] = [];
let [tried, triedHard, unbounded] = [0, 0, 0];

before(async () => {
  deployment = await startDeployment();
  await setUp(deployment, ways);
});
after(async () => {
  reportFigures({
    ways: tried,
    over: over.length,
    hard_ways: triedHard,
    hard_over: overHard.length,
    hard_unbounded: unbounded,
  });
  await deployment.stop();
});

describe('a request that looks cheaper than it is', () => {
  it('passes no limit by more than one request, whichever way it tries', async () => {
    const strange: string[] = [];
    await eachWay(async ({ way, index, metric }) => {
      const { served, unexpected } = await tryWay(deployment, way, index, metric);
      if (metric === METRICS[0]) tried += 1;
      if (unexpected !== null) strange.push(`${way.name} (${metric}): ${unexpected}`);
      else if (served > WORTH + 1) over.push(`${way.name} (${metric}): ${served} of ${WORTH}`);
      else if (served === 0) strange.push(`${way.name} (${metric}): none was served`);
    });
    assert.deepEqual(strange, []);
    assert.deepEqual(over, []);
    assert.ok(tried >= 60, String(tried));
  });

  it('passes no hard limit at all, or is told that nothing bounds it', async () => {
    const strange: string[] = [];
    await eachWay(async ({ way, index, metric }) => {
      const hard = await tryHardWay(deployment, way, index, metric);
      if (metric === METRICS[0]) triedHard += 1;
      if (metric === METRICS[0] && hard.unbounded) unbounded += 1;
      if (hard.unexpected !== null) strange.push(`${way.name} (${metric}): ${hard.unexpected}`);
      else if (hard.used > hard.limit)
        overHard.push(`${way.name} (${metric}): ${hard.used} of ${hard.limit}`);
      else if (hard.served === 0 && !hard.unbounded) strange.push(`${way.name} (${metric}): none was served`);
    });
    assert.deepEqual(strange, []);
    assert.deepEqual(overHard, []);
    assert.equal(triedHard, tried);
  });
});

interface Todo {
  readonly way: Way;
  readonly index: number;
  readonly metric: Metric;
}

async function eachWay(attempt: (todo: Todo) => Promise<void>): Promise<void> {
  const todo = ways.flatMap((way, index) => METRICS.map((metric): Todo => ({ way, index, metric })));
  async function client(): Promise<void> {
    for (let next = todo.pop(); next !== undefined; next = todo.pop()) await attempt(next);
  }
  await Promise.all(Array.from({ length: AT_ONCE }, client));
}
