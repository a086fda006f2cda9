import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfigText } from '@relay/server/config-file';
import { errorOf } from '../api/api-error.ts';
import { exitCodes, ProgramError } from '../kit/program-error.ts';
import { atPlace } from './read-config.ts';

const FILE = `version: 1
lanes:
  - slug: fast
    name: Fast
endpoints:
  - slug: main
    name: Main
    provider: elsewhere
    upstream_model: m1
    route_kind: chat
`;

/** What a command prints when the server rejects the file with this error. */
async function messageFor(error: Record<string, unknown>): Promise<string> {
  const read = { name: 'relay.yaml', ...readConfigText(FILE, { references: 'anywhere' }) };
  assert.deepEqual(read.findings, []);
  const body = JSON.stringify({ error: { code: 'validation_error', message: 'No.', ...error } });
  const rejection = await errorOf(new Response(body, { status: 400 }), body);
  try {
    await atPlace(read, Promise.reject(rejection));
  } catch (caught) {
    assert.ok(caught instanceof ProgramError);
    assert.equal(caught.exitCode, exitCodes.error);
    return caught.message;
  }
  return assert.fail('the rejection was lost');
}

test('a rejected file names the line of the field at fault', async () => {
  const message = await messageFor({ param: 'config.endpoints[0].provider', message: 'Unknown provider.' });
  assert.equal(message, 'relay.yaml:8:15: Unknown provider.');
});

test('every invalid field is named, each at its line', async () => {
  const message = await messageFor({
    param: 'config.lanes[0].name',
    issues: [
      { path: 'config.lanes[0].name', message: 'name is taken' },
      { path: 'config.endpoints[0].upstream_model', message: 'upstream_model is unknown' },
    ],
  });
  assert.equal(message, 'relay.yaml:4:11: name is taken\n  relay.yaml:9:21: upstream_model is unknown');
});

test('an error about no part of the file stays as it is', async () => {
  assert.equal(await messageFor({ param: 'plan_hash' }), 'No.');
  assert.equal(await messageFor({}), 'No.');
});
