import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EVERY_REQUEST } from '../../domain/limits/limits.fixture.ts';
import { dispatchedAt, emptyWindow, spend } from './window.ts';

const MINUTE = { id: 'm', metric: 'tokens', period: 'minute', limit: 100, counts: EVERY_REQUEST } as const;
const NOW_MS = 10_000_000;

const minute = () => emptyWindow(MINUTE, 'minute', { lastMs: 0, shiftMs: 0 });

describe('what a window counts', () => {
  it('ignores what is given back to a moment that has slid out', () => {
    const window = minute();
    spend(window, NOW_MS, 10);
    spend(window, NOW_MS + 70_000, 10);
    spend(window, NOW_MS, -10);
    spend(window, NOW_MS + 5_000, 7);
    assert.equal(dispatchedAt(window, NOW_MS + 70_000), 10);
  });

  it('is never less than nothing, and what is given back twice frees no other charge', () => {
    const window = minute();
    spend(window, NOW_MS, 10);
    spend(window, NOW_MS + 1_000, 5);
    for (let turn = 0; turn < 2; turn += 1) spend(window, NOW_MS, -10);
    assert.equal(dispatchedAt(window, NOW_MS + 1_000), 5);
  });
});
