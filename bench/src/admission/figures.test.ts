import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { engineFigures } from './figures.ts';

const slice = (cpuUs: number, aofBytes = 1_000) => ({ cpuUs, aofBytes, scriptCalls: 2 });
const round = (before: number, now: number) => ({
  'before 1': slice(before),
  'before 16': slice(before, 15_000),
  'now 1': slice(now),
  'now 16': slice(now / 2, 3_000),
});

describe('figures of the engines', () => {
  it('compare within rounds, so that a slow minute of the machine changes nothing', () => {
    const figures = engineFigures([round(500, 100), round(5_000, 1_000), round(50, 10)]);
    assert.equal(figures.redis_cpu_ratio_1, 0.2);
    assert.equal(figures.redis_cpu_ratio_16, 0.1);
    assert.deepEqual(figures['redis_cpu_ratio_1_spread'], { min: 0.2, median: 0.2, max: 0.2 });
  });

  it('tell what a core serves and the file grows by, sixteen at a time', () => {
    const figures = engineFigures([round(500, 100), round(500, 100)]);
    assert.equal(figures.per_second_one_organization, 20_000);
    assert.equal(figures.aof_bytes, 3_000);
    assert.equal(figures['aof_bytes_before'], 15_000);
  });
});
