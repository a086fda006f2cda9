import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { forecastOf, tellingForecast } from './limit-forecast.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe('the forecast of a window', () => {
  it('of constant traffic is exact, at whatever moment it is made', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1_000 }),
        fc.integer({ min: 1, max: 1_000 }),
        fc.integer({ min: 1, max: DAY_MS / 1_000 - 1 }),
        (perSecond, share, passedSeconds) => {
          const window = { startMs: DAY_MS, endMs: 2 * DAY_MS };
          const atEnd = perSecond * (DAY_MS / 1_000);
          const limit = Math.max(1, Math.round((atEnd * share) / 500));
          const used = perSecond * passedSeconds;
          const nowMs = window.startMs + passedSeconds * 1_000;
          const forecast = forecastOf({ ...window, used, limit }, nowMs);
          assert.equal(Math.round(forecast.atEnd), atEnd);
          assert.equal(Math.round(forecast.perHour), perSecond * 3_600);
          // The limit is reached when the traffic has used it, which may be over.
          const reachedMs = window.startMs + (limit / perSecond) * 1_000;
          const expectedMs = used >= limit ? nowMs : reachedMs < window.endMs ? reachedMs : null;
          if (expectedMs === null) assert.equal(forecast.exhaustedMs, null);
          else assert.ok(Math.abs((forecast.exhaustedMs ?? 0) - expectedMs) <= 1);
        },
      ),
    );
  });

  it('names no moment in the past, and none after the reset', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 31 * DAY_MS }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
        fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
        (lengthMs, passed, used, limit) => {
          const nowMs = Math.floor(lengthMs * passed);
          const { exhaustedMs, atEnd } = forecastOf({ startMs: 0, endMs: lengthMs, used, limit }, nowMs);
          assert.ok(exhaustedMs === null || (exhaustedMs >= nowMs && exhaustedMs < lengthMs));
          assert.ok(atEnd >= used);
        },
      ),
    );
  });

  it('is left out in the first tenth of a window, unless half of the limit is gone', () => {
    const day = (used: number, limit: number | null = 100) => ({ startMs: 0, endMs: DAY_MS, used, limit });
    assert.equal(tellingForecast(day(49), 2 * HOUR_MS), null);
    assert.equal(tellingForecast(day(0), 2 * HOUR_MS)?.atEnd, 0);
    assert.equal(tellingForecast(day(49, null), 2 * HOUR_MS), null);
    assert.equal(tellingForecast(day(50), 2 * HOUR_MS)?.exhaustedMs, 4 * HOUR_MS);
    assert.equal(tellingForecast(day(49), 2.4 * HOUR_MS)?.exhaustedMs, Math.ceil((2.4 * HOUR_MS * 100) / 49));
    assert.equal(tellingForecast(day(24, null), 12 * HOUR_MS)?.atEnd, 48);
  });
});
