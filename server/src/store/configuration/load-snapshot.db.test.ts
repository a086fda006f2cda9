import assert from 'node:assert/strict';
import { randomBytes, randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '../../kit/clock.ts';
import { createSealer, type Sealer } from '../../kit/seal.ts';
import {
  type MigratedDatabase,
  migratedDatabase,
  seedOrganization,
  silentLog,
} from '../fixtures/migrated-database.fixture.ts';
import { loadSnapshot } from './load-snapshot.ts';
import { secretBinding } from './secret-binding.ts';

const CREDENTIALS = 400;

describe('loading a snapshot', () => {
  let migrated: MigratedDatabase;

  before(async () => {
    migrated = await migratedDatabase();
  });
  after(() => migrated.drop());

  it('opens many credentials in slices, so that requests are served meanwhile', async () => {
    const sealer = createSealer({ primary: randomBytes(32) });
    const { organizationId, providerId } = await seedOrganization(migrated.db);
    const binding = secretBinding({ organizationId, ownerId: providerId, secretVersion: 1 });
    const ids = Array.from({ length: CREDENTIALS }, () => randomUUIDv7());
    const rows = ids.map((id) => ({
      organization_id: organizationId,
      id,
      provider_id: providerId,
      name: id,
      sealed_secret: sealer.seal(`sk-${id}`, binding),
      key_id: sealer.keyId,
    }));
    await migrated.db.insertInto('credentials').values(rows).execute();

    let opened = 0;
    let openedInTurn = 0;
    let mostInTurn = 0;
    let nowMs = 0;
    // Each takes a tenth of a millisecond of the clock that the slices are measured with.
    const slow: Sealer = {
      ...sealer,
      open(sealed, associated) {
        opened += 1;
        openedInTurn += 1;
        mostInTurn = Math.max(mostInTurn, openedInTurn);
        nowMs += 0.1;
        return sealer.open(sealed, associated);
      },
    };
    let watching = true;
    const watch = () => {
      openedInTurn = 0;
      if (watching) setImmediate(watch);
    };
    watch();
    const source = {
      db: migrated.db,
      sealer: slow,
      clock: { ...systemClock, monotonicMs: () => nowMs },
      log: silentLog,
    };
    const snapshot = await loadSnapshot(source, organizationId);
    watching = false;

    assert.ok(opened >= CREDENTIALS);
    assert.ok(mostInTurn <= 64, `${mostInTurn} were opened without a pause`);
    for (const id of ids) assert.equal(snapshot?.credentials.get(id)?.secret?.reveal(), `sk-${id}`);
  });
});
