import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { forecastOf } from './month.ts';

const MIDDLE = Date.UTC(2026, 10, 16);

describe('the forecast of a month', () => {
  it('goes on at the rate since the month began, and names the day on which the budget is used up', () => {
    const { forecastMicros, overAtMs, elapsed } = forecastOf(50, 75, MIDDLE);
    assert.equal(elapsed, 0.5);
    assert.equal(forecastMicros, 100);
    assert.equal(overAtMs, Date.UTC(2026, 10, 1) + 0.75 * 30 * 86_400_000);
  });

  it('has no such day without a budget, or when the budget lasts', () => {
    assert.equal(forecastOf(50, null, MIDDLE).overAtMs, null);
    assert.equal(forecastOf(50, 100, MIDDLE).overAtMs, null);
    assert.equal(forecastOf(0, 0, MIDDLE).overAtMs, null);
  });

  it('names the present when the budget is used up already', () => {
    assert.equal(forecastOf(80, 75, MIDDLE).overAtMs, MIDDLE);
  });
});
