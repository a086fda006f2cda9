import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createBreaker } from './breaker.ts';

function setUp() {
  let nowMs = 0;
  const changes: string[] = [];
  const breaker = createBreaker({
    clock: { nowMs: () => nowMs, monotonicMs: () => nowMs },
    failuresMax: 3,
    openMs: 100,
    onChange: (state) => changes.push(state),
  });
  const failTimes = (times: number) => {
    for (let count = 0; count < times; count += 1) {
      assert.ok(breaker.tryPass());
      breaker.failed();
    }
  };
  return { breaker, changes, failTimes, pass: (ms: number) => (nowMs += ms) };
}

describe('breaker', () => {
  it('opens after as many failures in a row as it is told, and not before', () => {
    const { breaker, failTimes, changes } = setUp();
    failTimes(2);
    breaker.succeeded();
    failTimes(2);
    assert.equal(breaker.state(), 'closed');
    failTimes(1);
    assert.equal(breaker.state(), 'open');
    assert.equal(breaker.tryPass(), false);
    assert.deepEqual(changes, ['open']);
  });

  it('lets one probe through when its time is over, and closes on its success', () => {
    const { breaker, failTimes, pass, changes } = setUp();
    failTimes(3);
    pass(100);
    assert.equal(breaker.state(), 'half_open');
    assert.equal(breaker.tryPass(), true);
    assert.equal(breaker.tryPass(), false);
    breaker.succeeded();
    assert.equal(breaker.state(), 'closed');
    assert.ok(breaker.tryPass());
    assert.deepEqual(changes, ['open', 'closed']);
  });

  it('a failed probe opens it for another period', () => {
    const { breaker, failTimes, pass } = setUp();
    failTimes(3);
    pass(100);
    assert.ok(breaker.tryPass());
    breaker.failed();
    assert.equal(breaker.state(), 'open');
    pass(99);
    assert.equal(breaker.tryPass(), false);
    pass(1);
    assert.equal(breaker.tryPass(), true);
  });

  it('a late answer to a call made before it opened does not close it', () => {
    const { breaker, failTimes } = setUp();
    assert.ok(breaker.tryPass());
    failTimes(3);
    breaker.succeeded();
    assert.equal(breaker.state(), 'open');
  });

  it('evidence from elsewhere closes it', () => {
    const { breaker, failTimes, changes } = setUp();
    failTimes(3);
    breaker.reset();
    assert.equal(breaker.state(), 'closed');
    breaker.reset();
    assert.deepEqual(changes, ['open', 'closed']);
  });
});
