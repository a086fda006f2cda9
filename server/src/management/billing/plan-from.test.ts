import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { planFrom } from './plan-from.ts';

const held = (status: string, ...plans: (string | null)[]) => ({ status, plans });

describe('the plan of an organization', () => {
  it('is the best that any of its subscriptions gives', () => {
    assert.equal(planFrom([held('active', 'team')]), 'team');
    assert.equal(planFrom([held('trialing', 'free'), held('past_due', 'enterprise')]), 'enterprise');
    assert.equal(planFrom([held('active', null, 'team')]), 'team');
    assert.equal(planFrom([held('canceled', 'enterprise'), held('active', 'team')]), 'team');
  });

  it('is closed once all that gave one have ended', () => {
    for (const status of ['canceled', 'unpaid', 'paused'])
      assert.equal(planFrom([held(status, 'team'), held('incomplete', 'team')]), 'closed', status);
  });

  it('is not touched by what was never paid for, or is about something else', () => {
    for (const subscriptions of [
      [],
      [held('incomplete', 'team')],
      [held('incomplete_expired', 'team')],
      [held('canceled', null)],
      [held('active', null)],
      [held('active', 'a plan of nobody')],
      [held('something new', 'team')],
    ])
      assert.equal(planFrom(subscriptions), null, JSON.stringify(subscriptions));
  });
});
