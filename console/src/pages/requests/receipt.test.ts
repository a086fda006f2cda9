import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { receiptOf } from './receipt.ts';

const line = (kind: 'input' | 'cached_input' | 'output', cost_usd: string, attempt = 1) => ({
  attempt,
  kind,
  tokens: 1,
  price_micros: 1,
  cost_usd,
});

describe('the receipt of a request', () => {
  it('has exact amounts with the same number of decimals', () => {
    const receipt = receiptOf({
      cost_lines: [line('input', '0.010236'), line('cached_input', '0.0006144'), line('output', '1234.5')],
      cost_usd: '1234.5108504',
      estimated_cost_micros: 1_300_000_000,
    });
    assert.deepEqual(
      receipt?.attempts.map(({ lines }) => lines.map(({ cost }) => cost)),
      [['$0.0102360', '$0.0006144', '$1,234.5000000']],
    );
    assert.equal(receipt?.total, '$1,234.5108504');
    assert.deepEqual(receipt?.estimate, { reserved: '$1,300.0000000', rest: '$65.4891496', isOver: false });
  });

  it('has a part for each attempt that used something', () => {
    const receipt = receiptOf({
      cost_lines: [line('input', '0.000001'), line('input', '0.000002', 3), line('output', '0.000004', 3)],
      cost_usd: '0.000007',
      estimated_cost_micros: null,
    });
    assert.deepEqual(
      receipt?.attempts.map(({ attempt, lines }) => [attempt, lines.map(({ cost }) => cost)]),
      [
        [1, ['$0.000001']],
        [3, ['$0.000002', '$0.000004']],
      ],
    );
  });

  it('says what was used beyond the estimate', () => {
    const over = { cost_lines: [line('output', '0.00003')], cost_usd: '0.00003', estimated_cost_micros: 20 };
    assert.deepEqual(receiptOf(over)?.estimate, { reserved: '$0.000020', rest: '$0.000010', isOver: true });
    assert.equal(receiptOf({ ...over, estimated_cost_micros: null })?.estimate, null);
  });

  it('is none where the lines are unknown, and empty for a free request', () => {
    assert.equal(receiptOf({ cost_lines: null, cost_usd: '1', estimated_cost_micros: 1 }), null);
    assert.equal(receiptOf({ cost_lines: [], cost_usd: null, estimated_cost_micros: 1 }), null);
    assert.equal(receiptOf({ cost_lines: [], cost_usd: '0', estimated_cost_micros: 0 })?.total, '$0.000000');
  });
});
