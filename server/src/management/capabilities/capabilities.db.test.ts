import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { freshDatabase } from '@relay/testbed';
import { startManagement } from '../fixture.ts';

describe('capabilities', () => {
  it('tell the mode, what is served and what the caller may do', async () => {
    const database = await freshDatabase();
    const room = await startManagement(database.url);
    try {
      const scopes = new Set(['relay:routing:read', 'relay:providers:read'] as const);
      const { body } = await room.call('getCapabilities', { ...room.acme, scopes });
      assert.equal(body.mode, 'self_hosted');
      assert.equal(body.accounts, false);
      assert.match(body.version, /^\d+\.\d+\.\d+/);
      assert.deepEqual(body.scopes, ['relay:providers:read', 'relay:routing:read']);
      assert.equal(body.features['lanes'], true);
      assert.equal(body.features['guardrails'], true);
    } finally {
      await room.close();
      await database.drop();
    }
  });
});
