import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import { systemClock } from '../kit/clock.ts';
import { createEgress } from '../kit/egress/index.ts';
import { createLog } from '../kit/log.ts';
import { createSealer } from '../kit/seal.ts';
import { ensureImplicitOrganization } from '../store/configuration/implicit-organization.ts';
import { createSnapshots, type Snapshots } from '../store/configuration/snapshots.ts';
import { createDatabase, type DatabaseHandle } from '../store/postgres/postgres.ts';
import { readEnvironment } from './environment.ts';
import type { RoleName } from './roles.ts';
import { createRuntime } from './runtime.ts';
import { applyConfigAtStart, ConfigFileError } from './start-config.ts';

const FILE = `version: 1
providers:
  - name: Main
    base_url: https://api.example.com/v1
credentials:
  - provider: main
    name: key
    secret_ref: env:MAIN_KEY
lanes:
  - name: Fast
`;

describe('the configuration file at start', () => {
  const log = createLog('silent');
  let fresh: FreshDatabase;
  let database: DatabaseHandle;
  let snapshots: Snapshots;
  let folder: string;
  const egress = createEgress({
    allowedCidrs: [],
    connectTimeoutMs: 1_000,
    connectionsPerOriginMax: 1,
    originsMax: 1,
  });
  const sealer = createSealer({ primary: randomBytes(32), previous: [] });

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'relay-start-config-'));
    fresh = await freshDatabase();
    database = createDatabase({ url: fresh.url, log, poolMax: 4, applicationName: 'start-config' });
    snapshots = createSnapshots({ database, sealer, clock: systemClock, log });
  });
  after(async () => {
    await snapshots.stop();
    await egress.close();
    await database.close();
    await fresh.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function applyText(
    text: string,
    variables: Readonly<Record<string, string>>,
    roleName: RoleName = 'all',
  ) {
    const path = join(folder, 'relay.yaml');
    writeFileSync(path, text);
    const token = () => randomBytes(24).toString('base64url');
    const environment = readEnvironment({
      DATABASE_URL: fresh.url,
      REDIS_URL: 'redis://127.0.0.1:1',
      RELAY_API_TOKEN: token(),
      RELAY_ADMIN_TOKEN: token(),
      RELAY_MASTER_KEY: randomBytes(32).toString('base64'),
      RELAY_CONFIG: path,
    });
    const owner = await ensureImplicitOrganization(database.db);
    await snapshots.load(owner.organizationId);
    return applyConfigAtStart({
      runtime: createRuntime(environment, roleName, log, { isEmbedded: false, keptAuthSecret: null }),
      stores: { database },
      configuration: { owner, snapshots, sealer, fences: { raise: async () => undefined } },
      upstream: { egress },
      variable: (name) => variables[name],
    });
  }
  const refusedAt = (place: string, words: RegExp) => (error: unknown) => {
    assert.ok(error instanceof ConfigFileError);
    assert.ok(error.message.startsWith(`${join(folder, 'relay.yaml')}:${place}: `), error.message);
    assert.match(error.message, words);
    return true;
  };

  it('is refused with file, line and column, and nothing of it is written', async () => {
    await assert.rejects(applyText(FILE, {}), refusedAt('8:17', /needs the secret env:MAIN_KEY/));
    const inline = FILE.replace('env:MAIN_KEY', 'sk-inline');
    await assert.rejects(applyText(inline, {}), refusedAt('8:17', /never in the file/));
    const private_ = FILE.replace('https://api.example.com', 'http://10.0.0.1');
    await assert.rejects(applyText(private_, { MAIN_KEY: 'sk-a' }), refusedAt('4:15', /private/));
    await assert.rejects(applyText(FILE, { MAIN_KEY: 'sk a\n' }), refusedAt('8:17', /printable ASCII/));
    const { length } = await database.db.selectFrom('providers').select('id').execute();
    assert.equal(length, 0);
  });

  it('sends no setting of the server itself to a provider', async () => {
    const own = FILE.replace('env:MAIN_KEY', 'env:RELAY_MASTER_KEY');
    await assert.rejects(
      applyText(own, { RELAY_MASTER_KEY: 'the-key' }),
      refusedAt('8:17', /RELAY_MASTER_KEY/),
    );
  });

  it('is left alone by roles that do not manage', async () => {
    assert.equal(await applyText('no: file', {}, 'worker'), null);
    assert.equal(await applyText('no: file', {}, 'inference'), null);
  });

  it('is written once by any number of processes, and in force afterwards', async () => {
    const plans = await Promise.all([1, 2, 3].map(() => applyText(FILE, { MAIN_KEY: 'sk-a' })));
    assert.deepEqual(plans.map((plan) => plan?.creates).sort(), [0, 0, 3]);
    const { organizationId } = await ensureImplicitOrganization(database.db);
    assert.equal(snapshots.get(organizationId)?.lanes.size, 1);
  });
});
