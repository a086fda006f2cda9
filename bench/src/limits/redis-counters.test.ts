import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readInfo } from './redis-counters.ts';

describe('counters of Redis', () => {
  it('sum scripts by digest and scripts sent whole', () => {
    const reading = readInfo(
      [
        '# Server',
        'process_id:4711',
        '# CPU',
        'used_cpu_sys:0.250000',
        'used_cpu_user:1.500000',
        '# Commandstats',
        'cmdstat_eval:calls=1,usec=90,usec_per_call=90.00,rejected_calls=0,failed_calls=0',
        'cmdstat_evalsha:calls=10,usec=1000,usec_per_call=100.00,rejected_calls=0,failed_calls=0',
        'cmdstat_get:calls=99,usec=99,usec_per_call=1.00,rejected_calls=0,failed_calls=0',
      ].join('\r\n'),
    );
    assert.deepEqual(reading, { processId: 4711, scripts: { calls: 11, us: 1090 }, cpuMs: 1750 });
  });

  it('are zero for what was never called', () => {
    assert.deepEqual(readInfo('process_id:1\r\n').scripts, { calls: 0, us: 0 });
  });
});
