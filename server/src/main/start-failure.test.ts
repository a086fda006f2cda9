import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Log } from '../kit/log.ts';
import { storeUnavailable } from '../store/store-error.ts';
import { loggingStart, StartFailedError } from './start-failure.ts';

for (const [store, setting, other] of [
  ['postgresql', 'DATABASE_URL', 'REDIS_URL'],
  ['redis', 'REDIS_URL', 'DATABASE_URL'],
] as const) {
  it(`a start that fails at ${store} names its setting, and not the other store's`, async () => {
    const said: string[] = [];
    const log = { error: (_fields: object, message: string) => void said.push(message) } as unknown as Log;
    const start = () => Promise.reject(storeUnavailable(store, new Error('it hangs')));
    await assert.rejects(loggingStart(log, start), StartFailedError);
    assert.equal(said.length, 1);
    assert.ok(said[0]?.includes(setting) && !said[0].includes(other), said[0]);
  });
}
