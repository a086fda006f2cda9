import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { reportFigures } from '../harness/figures.ts';
import { inputWays } from './input-ways.ts';
import { outputWays } from './output-ways.ts';
import { settledWays } from './settled-ways.ts';
import { METRICS, setUp } from './site.ts';
import { tryWay } from './try-way.ts';
import { WORTH } from './way.ts';

// Ways to make a request look cheaper than it is. Each is tried under a spend limit and under a token limit that are worth a few
// requests; more of them may pass than that by one, which is what an honest estimate can be wrong by.

const ways = [...outputWays, ...inputWays, ...settledWays];
const AT_ONCE = 4;
let deployment: Deployment;
const over: string[] = [];
let tried = 0;

before(async () => {
  deployment = await startDeployment();
  await setUp(deployment, ways);
});
after(async () => {
  reportFigures({ ways: tried, over: over.length });
  await deployment.stop();
});

describe('a request that looks cheaper than it is', () => {
  it('passes no limit by more than one request, whichever way it tries', async () => {
    const todo = ways.flatMap((way, index) => METRICS.map((metric) => ({ way, index, metric })));
    const strange: string[] = [];
    async function client(): Promise<void> {
      for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
        const { way, metric } = next;
        const { served, unexpected } = await tryWay(deployment, way, next.index, metric);
        if (metric === METRICS[0]) tried += 1;
        if (unexpected !== null) strange.push(`${way.name} (${metric}): ${unexpected}`);
        else if (served > WORTH + 1) over.push(`${way.name} (${metric}): ${served} of ${WORTH}`);
        else if (served === 0) strange.push(`${way.name} (${metric}): none was served`);
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, client));
    assert.deepEqual(strange, []);
    assert.deepEqual(over, []);
    assert.ok(tried >= 60, String(tried));
  });
});
