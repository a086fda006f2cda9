import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Endpoint, Health, Provider } from '@relay/contract';
import { signalOf } from './provider-signal.ts';

const provider = (health: Health) => ({ id: 'p', health }) as Provider;
const endpoint = (id: string, health: Health) => ({ id, health }) as Endpoint;

test('a provider that is idle or healthy has the signal of its worst endpoint', () => {
  for (const health of ['unknown', 'healthy'] as const) {
    const endpoints = [endpoint('a', 'healthy'), endpoint('b', 'degraded'), endpoint('c', 'down')];
    const { of, endpoint: named, unwell } = signalOf(provider(health), endpoints);
    assert.deepEqual([of.health, named?.id, unwell], ['down', 'c', 2]);
  }
});

test('otherwise it has its own', () => {
  const endpoints = [endpoint('a', 'healthy'), endpoint('b', 'unknown')];
  assert.deepEqual(signalOf(provider('unknown'), endpoints), {
    of: provider('unknown'),
    endpoint: null,
    unwell: 0,
  });
  const { of, endpoint: named } = signalOf(provider('degraded'), [endpoint('a', 'down')]);
  assert.deepEqual([of.health, named], ['degraded', null]);
});
