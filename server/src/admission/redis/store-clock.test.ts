import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createStoreClock } from './store-clock.ts';

const STORE_MS = Date.parse('2026-06-30T12:00:00.000Z');

it('an estimate follows a store whose clock was set back', () => {
  const clock = createStoreClock();
  clock.told(STORE_MS + 3_600_000, 2);
  assert.ok(clock.agoMs(STORE_MS) >= 3_600_000);
  clock.told(STORE_MS, 2);
  assert.ok(clock.agoMs(STORE_MS) < 60_000);
});

it('a reply that took long does not change it', () => {
  const clock = createStoreClock();
  clock.told(STORE_MS, 2);
  clock.told(STORE_MS - 5_000, 6_000);
  assert.ok(clock.agoMs(STORE_MS - 5_000) >= 5_000);
});
