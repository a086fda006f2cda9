import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createRunningTests } from './running-tests.ts';

const busy = { code: 'queue_full' };

it('concurrent tests are bounded per organization and per process, and each that ends frees a slot', async () => {
  const limited = createRunningTests({ inOrganization: 2, inProcess: 3 });
  const start = (organizationId: string) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    return { ended: limited(organizationId, () => promise), resolve, reject };
  };
  const [first, second, third] = [start('a'), start('a'), start('b')];
  await assert.rejects(start('a').ended, busy);
  await assert.rejects(start('c').ended, busy);
  first?.reject(new Error('the test itself failed'));
  await assert.rejects(first?.ended ?? Promise.resolve(), /the test itself failed/);
  const fourth = start('c');
  await assert.rejects(start('a').ended, busy);
  second?.resolve();
  await second?.ended;
  const fifth = start('a');
  for (const each of [third, fourth, fifth]) each?.resolve();
  await Promise.all([third?.ended, fourth.ended, fifth.ended]);
});
