import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import { sql } from 'kysely';
import { plans } from '../../domain/access.ts';
import type { Caller } from '../../domain/caller.ts';
import { keyCount } from '../api-keys/queries.ts';
import { type ManagementFixture, onPlan, refusal, startManagement } from '../fixture.ts';
import { memberCount } from '../invitations/queries.ts';
import { countedRows, demandRoom } from './plan-counts.ts';
import { storedTable } from './rows.ts';

describe('the counts of a plan', () => {
  let database: FreshDatabase;
  let room: ManagementFixture;
  let free: Caller;

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url);
    free = await onPlan(room, room.acme, 'free');
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  const lane = (caller: Caller, name: string) => room.call('createLane', caller, { body: { name } });
  const provider = (caller: Caller, name: string) =>
    room.call('createProvider', caller, { body: { name, base_url: 'https://api.example.com' } });

  it('are never passed by creates at the same moment, and nothing waits for itself', async () => {
    const countMax = plans.free.counts.lanes ?? 0;
    // Interleaves writes that are not counted, to find deadlocks between their locks and those of counted
    // writes.
    const made = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => [
        lane(free, `Lane ${index}`),
        room.call('createLimitPolicy', free, {
          body: { scope_type: 'global', metric: 'requests', period: 'minute', limit_value: 1_000 + index },
        }),
      ]).flat(),
    );
    const lanes = made.filter((_, index) => index % 2 === 0);
    const refused = lanes.filter((result) => result.status === 'rejected');
    assert.equal(lanes.length - refused.length, countMax);
    for (const { reason } of refused) refusal('entitlement_missing')(reason);
    assert.ok(made.every((result, index) => index % 2 === 0 || result.status === 'fulfilled'));
    assert.equal((await room.call('listLanes', free)).body.length, countMax);
  });

  it('refuse one more with the bound and the fix, and leave no trace', async () => {
    for (let index = 0; index < (plans.free.counts.providers ?? 0); index += 1) {
      await provider(free, `P${index}`);
    }
    const versionBefore = await room.configVersion(free);
    await assert.rejects(
      provider(free, 'One more'),
      refusal('entitlement_missing', undefined, /plan "free" allows 3 providers.*Remove one, or change/),
    );
    assert.equal(await room.configVersion(free), versionBefore);
  });

  it('give a place back when something is deleted, and follow the plan of the moment', async () => {
    const { body: listed } = await room.call('listProviders', free);
    await room.call('deleteProvider', free, { id: listed[0]?.id ?? '' });
    await provider(free, 'In its place');
    await assert.rejects(provider(free, 'Too many'), refusal('entitlement_missing'));
    // The caller has the old plan; the organization's row decides.
    await onPlan(room, free, 'team');
    await provider(free, 'Room again');
    await onPlan(room, free, 'free');
  });

  it('count for each organization by itself', async () => {
    const other = await onPlan(room, room.globex, 'free');
    await provider(other, 'First');
    await assert.rejects(provider(free, 'Still full'), refusal('entitlement_missing'));
  });

  it('of endpoints, guardrails, keys and members are known as well', async () => {
    const { organizationId, userId } = await onPlan(room, room.globex, 'free');
    const demand = (counted: Parameters<typeof demandRoom>[2]) =>
      room.db.transaction().execute((tx) => demandRoom(tx, organizationId, counted));
    const rowsOf = (table: 'guardrails' | 'endpoints') => countedRows(table, storedTable(table));
    const full = refusal('entitlement_missing');

    await assert.rejects(demand(rowsOf('guardrails')), full);

    await room.db
      .insertInto('api_keys')
      .values(
        Array.from({ length: 12 }, (_, index) => ({
          organization_id: organizationId,
          id: randomUUIDv7(),
          user_id: userId,
          name: `key ${index}`,
          public_id: `public${String(index).padStart(4, '0')}`,
          secret_hmac: Buffer.alloc(32),
          scopes: ['relay:request'],
          revoked_at: index === 0 ? new Date() : null,
          expires_at: index < 3 ? new Date(Date.now() - 1_000) : null,
        })),
      )
      .execute();
    await demand(keyCount);
    await sql`update api_keys set expires_at = now() + interval '1 day' where name = 'key 2'`.execute(
      room.db,
    );
    await assert.rejects(demand(keyCount), full);

    const invitation = (email: string, expiresInMs: number) =>
      room.db
        .insertInto('invitations')
        .values({
          organization_id: organizationId,
          id: randomUUIDv7(),
          email,
          role: 'viewer',
          token_hash: Buffer.from(email.padEnd(32, '.')),
          expires_at: new Date(Date.now() + expiresInMs),
        })
        .execute();
    await invitation('one@example.com', 60_000);
    await invitation('late@example.com', -60_000);
    await demand(memberCount);
    await invitation('two@example.com', 60_000);
    await assert.rejects(demand(memberCount), full);

    const [{ id: provider_id = '' } = {}] = (await room.call('listProviders', room.globex)).body;
    for (let index = 0; index < (plans.free.counts.endpoints ?? 0); index += 1) {
      await demand(rowsOf('endpoints'));
      await room.call('createEndpoint', room.globex, {
        body: { provider_id, name: `E${index}`, upstream_model: 'm', route_kind: 'chat' },
      });
    }
    await assert.rejects(demand(rowsOf('endpoints')), full);
  });
});
