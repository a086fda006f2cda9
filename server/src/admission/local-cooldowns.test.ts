import assert from 'node:assert/strict';
import { it } from 'node:test';
import { COOLDOWN_MS_MAX, createLocalCooldowns } from './local-cooldowns.ts';

it('a provider pauses its endpoint for an hour at most, at every gateway', () => {
  const nowMs = 5_000;
  const announced: number[] = [];
  const cooldowns = createLocalCooldowns({
    clock: { nowMs: () => nowMs, monotonicMs: () => nowMs },
    channel: { announce: (_endpointId, untilMs) => void announced.push(untilMs), subscribe: () => undefined },
  });
  cooldowns.penalize('e', nowMs + 365 * 86_400_000);
  assert.equal(cooldowns.cooldownUntilMs('e'), nowMs + COOLDOWN_MS_MAX);
  assert.deepEqual(announced, [nowMs + COOLDOWN_MS_MAX]);
});
