import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { testSeed } from '@relay/testbed/random';
import { configFileRoom } from './config-file.fixture.ts';
import { runFileActs } from './file-acts.fixture.ts';

describe('a file that manages an organization', () => {
  const { room } = configFileRoom();

  it('has an empty plan exactly when the export equals it, and prune restores it, whatever people do beside it', async () => {
    const result = await runFileActs(room(), testSeed(), 120);
    process.stdout.write(`${JSON.stringify(result)}\n`);
    for (const [what, count] of Object.entries(result)) assert.ok(count > 0, what);
  });
});
