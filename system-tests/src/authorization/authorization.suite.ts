import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Account, allRoutes } from '@relay/contract';
import { IS_LONG } from '@relay/testbed/long-form';
import { type Accounts, openAccounts } from '../harness/accounts.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { reportFigures } from '../harness/figures.ts';
import { untilLedgerReady } from '../harness/objects.ts';
import type { RelayProcess } from '../harness/relay-process.ts';
import {
  hostedColumns,
  type ImplicitOwner,
  memberColumns,
  ownerColumns,
  strayTokenColumns,
  tokenColumns,
} from './columns.ts';
import { findLeaks, findMixUps, leaksOnceForgotten, startPair, switchRowSecurity } from './isolation.ts';
import { type MatrixResult, type MatrixSetup, runMatrix } from './matrix.ts';
import { adminSessionColumn, sessionColumns } from './session-columns.ts';
import { findSessionLeaks } from './session-isolation.ts';
import { findTellTales } from './tell-tales.ts';
import { startUpstream, type Upstream } from './upstream.ts';

// Permissions: every route for every kind of caller, from one table; and isolation of two organizations.

const PRELOAD = join(import.meta.dirname, 'preload-without-predicate.ts');
const CELLS_MIN = 2_000;
/** Without predicates the database decides, by organization and not by role: callers of each kind that it must tell apart. */
const CARELESS: readonly string[] = ['role owner', 'other organization', 'session of an owner'];
const figures = { cells: 0, wrong: 0, probes: 0, leaks: 0 };

after(() => reportFigures(figures));

function assertRight(result: MatrixResult): void {
  figures.cells += result.cells;
  figures.wrong += result.wrong.length;
  const lines = result.wrong.map(
    ({ column, route, expected, actual }) => `  ${route} by ${column}: ${expected} expected, ${actual}`,
  );
  assert.equal(lines.length, 0, `${lines.length} wrong cells:\n${lines.join('\n')}`);
}

describe('hosted', () => {
  let deployment: Deployment;
  let accounts: Accounts;
  let upstream: Upstream;
  let setup: MatrixSetup;
  let careless: RelayProcess;
  before(async () => {
    const authSecret = randomBytes(32).toString('base64url');
    upstream = await startUpstream();
    deployment = await startDeployment({ env: { RELAY_MODE: 'hosted', RELAY_AUTH_SECRET: authSecret } });
    accounts = openAccounts({ databaseUrl: deployment.postgres.url, authSecret });
    await untilLedgerReady(accounts);
    careless = await deployment.startProcess({ nodeFlags: ['--import', PRELOAD] });
    setup = { accounts, url: deployment.url, mode: 'hosted', upstreamOf: upstream.urlOf, ownerOf: new Map() };
  });
  after(async () => {
    await accounts?.close();
    await deployment?.stop();
    await upstream?.close();
  });

  const columns = () => [
    ...hostedColumns,
    ...sessionColumns,
    ...strayTokenColumns({ api: deployment.apiToken, admin: deployment.adminToken }),
  ];

  it('every route answers every caller as the table says', async () => {
    const result = await runMatrix(setup, columns());
    const tried = columns().flatMap(({ routes = () => true }) => allRoutes.filter(routes));
    assert.equal(result.cells, tried.length);
    assert.ok(result.cells >= CELLS_MIN);
    assertRight(result);
  });

  it('and does so when no query names its organization', async () => {
    const some = columns().filter(({ name }) => IS_LONG || CARELESS.includes(name));
    assert.ok(some.length >= CARELESS.length);
    assertRight(await runMatrix({ ...setup, url: careless.url }, some));
  });

  describe('two organizations with the same names for everything', () => {
    const leaksAt = async (url: string, isBroken = false) => {
      const pair = await startPair(setup);
      const found = await findLeaks({ url, accounts, ownerOf: setup.ownerOf, isBroken, ...pair });
      figures.probes += found.probes;
      return found.leaks;
    };
    const assertNone = (leaks: readonly string[]) => {
      figures.leaks += leaks.length;
      assert.deepEqual(leaks, []);
    };

    it('never see or touch one another by any list, filter, cursor or id', async () => {
      assertNone(await leaksAt(deployment.url));
    });

    it('nor when no query names its organization', async () => {
      assertNone(await leaksAt(careless.url));
    });

    it('do not tell an id of the other from one that exists nowhere', async () => {
      const pair = await startPair(setup);
      assertNone(await findTellTales({ url: deployment.url, sharedLimits: false, ...pair }));
    });

    it('are served by their own providers, under names that are their own', async () => {
      assertNone(await findMixUps(setup, upstream, await startPair(setup)));
    });

    it('cannot end one another’s browser sessions or switch to one another', async () => {
      assertNone(await findSessionLeaks(deployment.url));
    });

    describe('without row-level security', () => {
      before(() => switchRowSecurity(accounts, 'disable'));
      after(() => switchRowSecurity(accounts, 'enable'));

      it('are kept apart by the queries alone', async () => {
        assertNone(await leaksAt(deployment.url));
      });

      it('meet everywhere once the queries forget as well, which shows that these tests look', async () => {
        const leaks = await leaksAt(careless.url, true);
        const missing = leaksOnceForgotten.filter((start) => !leaks.some((leak) => leak.startsWith(start)));
        assert.deepEqual(missing, [], `found only:\n${leaks.join('\n')}`);
      });
    });
  });
});

describe('self-hosted', () => {
  let deployment: Deployment;
  let accounts: Accounts;
  let upstream: Upstream;
  let setup: Omit<MatrixSetup, 'url' | 'mode'>;
  let owner: ImplicitOwner;
  before(async () => {
    const authSecret = randomBytes(32).toString('base64url');
    upstream = await startUpstream();
    deployment = await startDeployment({ env: { RELAY_ACCOUNTS: 'true', RELAY_AUTH_SECRET: authSecret } });
    accounts = openAccounts({ databaseUrl: deployment.postgres.url, authSecret });
    await untilLedgerReady(accounts);
    setup = { accounts, upstreamOf: upstream.urlOf, ownerOf: new Map() };
    const { body } = await deployment.admin.call('GET', '/api/account');
    const { user, org } = body as Account;
    owner = { organizationId: org.id, callerId: user.id };
  });
  after(async () => {
    await accounts?.close();
    await deployment?.stop();
    await upstream?.close();
  });

  const tokens = () => tokenColumns({ api: deployment.apiToken, admin: deployment.adminToken }, owner);

  const adminSession = (withAccounts: boolean) =>
    adminSessionColumn(deployment.adminToken, owner, withAccounts);

  it('with accounts, the tokens and the keys each open what is theirs', async () => {
    const columns = [...tokens(), adminSession(true), ...memberColumns(owner)];
    assertRight(await runMatrix({ ...setup, url: deployment.url, mode: 'self_hosted' }, columns));
  });

  it('without accounts, the tokens and the keys open the same, except for members and sign-in', async () => {
    const plain = await deployment.startProcess({ env: { RELAY_ACCOUNTS: 'false' } });
    const columns = [...tokens(), adminSession(false), ...ownerColumns(owner)];
    assertRight(await runMatrix({ ...setup, url: plain.url, mode: 'self_hosted_without_accounts' }, columns));
  });

  // Last, because the probes leave the other organization's IDs in the list of requests.
  it('with accounts, an id of another organization answers like one that exists nowhere', async () => {
    const pair = await startPair(setup, owner.organizationId);
    const found = await findTellTales({ url: deployment.url, sharedLimits: true, ...pair });
    assert.deepEqual(found, []);
  });
});
