import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readInfo } from './redis-counters.ts';

describe('counters of Redis', () => {
  it('sum scripts by digest, scripts sent whole and functions, and read the main thread alone', () => {
    const reading = readInfo(
      [
        '# Server',
        'process_id:4711',
        '# CPU',
        'used_cpu_sys:9.250000',
        'used_cpu_user:9.500000',
        'used_cpu_sys_main_thread:0.250000',
        'used_cpu_user_main_thread:1.500000',
        '# Persistence',
        'aof_current_size:123456',
        '# Commandstats',
        'cmdstat_eval:calls=1,usec=90,usec_per_call=90.00,rejected_calls=0,failed_calls=0',
        'cmdstat_evalsha:calls=10,usec=1000,usec_per_call=100.00,rejected_calls=0,failed_calls=0',
        'cmdstat_fcall:calls=2,usec=10,usec_per_call=5.00,rejected_calls=0,failed_calls=0',
        'cmdstat_get:calls=99,usec=99,usec_per_call=1.00,rejected_calls=0,failed_calls=0',
      ].join('\r\n'),
    );
    assert.deepEqual(reading, {
      processId: 4711,
      scripts: { calls: 13, us: 1100 },
      mainThreadCpuMs: 1750,
      aofBytes: 123_456,
    });
  });

  it('are zero for what was never called', () => {
    assert.deepEqual(readInfo('process_id:1\r\n').scripts, { calls: 0, us: 0 });
  });
});
