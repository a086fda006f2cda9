import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { describe, it } from 'node:test';
import { inferenceRouteOf } from './inference-route.ts';

describe('a path under /v1 that Relay does not serve', () => {
  it('is answered with its method, its path, and what is served', () => {
    const request = { method: 'POST', url: '/v1/images/generations?n=1', headers: {} } as IncomingMessage;
    assert.throws(() => inferenceRouteOf(request), {
      code: 'route_not_found',
      message:
        /^Relay doesn’t serve POST \/v1\/images\/generations\. Under \/v1 it serves chat\/completions, .*embeddings.*, models\.$/,
    });
  });

  it('is not repeated beyond 200 characters', () => {
    const request = { method: 'GET', url: `/v1/${'x'.repeat(5_000)}`, headers: {} } as IncomingMessage;
    assert.throws(
      () => inferenceRouteOf(request),
      ({ message }: Error) => message.length < 500,
    );
  });
});
