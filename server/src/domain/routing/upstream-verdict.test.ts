import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FAULT_VERDICT, type UpstreamVerdict, verdictOfStatus } from './upstream-verdict.ts';

/** Every status from 200 to 599 that has this property. */
function statuses(has: (verdict: UpstreamVerdict) => boolean): number[] {
  const found: number[] = [];
  for (let status = 200; status < 600; status += 1) if (has(verdictOfStatus(status))) found.push(status);
  return found;
}

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

const FALLBACK_4XX = [401, 402, 403, 404, 407, 408, 409, 425, 429];
const CREDENTIAL = [401, 402, 403, 407];

describe('the verdict on an upstream', () => {
  it('moves on after redirects, the listed 4xx and every 5xx, and after nothing else', () => {
    assert.deepEqual(
      statuses(({ movesOn }) => movesOn),
      [...range(300, 399), ...FALLBACK_4XX, ...range(500, 599)],
    );
  });

  it('takes 401, 402, 403 and 407 for the credential, and redirects for the address', () => {
    assert.deepEqual(
      statuses(({ rejects }) => rejects === 'credential'),
      CREDENTIAL,
    );
    assert.deepEqual(
      statuses(({ rejects }) => rejects === 'address'),
      range(300, 399),
    );
  });

  it('counts each status once for health; a client’s own error, 409 and 425 do not count', () => {
    const counted = (count: string) => statuses(({ health }) => health === count);
    assert.deepEqual(counted('ok'), range(200, 299));
    assert.deepEqual(counted('credential_refused'), CREDENTIAL);
    assert.deepEqual(counted('throttled'), [429]);
    assert.deepEqual(counted('fault'), [...range(300, 399), 404, 408, ...range(500, 599)]);
    const uncounted = counted('neither');
    for (const status of [400, 409, 413, 415, 422, 425]) assert.ok(uncounted.includes(status), `${status}`);
  });

  it('moves on after a fault, which counts against the endpoint', () => {
    assert.deepEqual(FAULT_VERDICT, { movesOn: true, rejects: null, health: 'fault' });
  });
});
