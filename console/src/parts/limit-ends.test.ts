import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { NamedLimit } from '@relay/contract';
import { limitEnds } from './limit-ends.ts';

it('limits that run out are apart from those that last, in the order of the server', () => {
  const usage = (policy_id: string, runs_out_at: string | null) => ({ policy_id, runs_out_at }) as NamedLimit;
  const limits = [
    usage('now', '2026-11-16T12:00:00.000Z'),
    usage('afternoon', '2026-11-16T15:00:00.000Z'),
    usage('tight', null),
    usage('wide', null),
  ];
  const { ends, lasting } = limitEnds({ limits });
  assert.deepEqual(
    ends.map(({ usage: { policy_id: id }, atMs }) => [id, new Date(atMs).getUTCHours()]),
    [
      ['now', 12],
      ['afternoon', 15],
    ],
  );
  assert.deepEqual(
    lasting.map(({ policy_id: id }) => id),
    ['tight', 'wide'],
  );
});
