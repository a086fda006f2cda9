import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  type Access,
  compareCareless,
  compareTable,
  startAccess,
  type TableFigures,
} from './access/table.ts';
import {
  findLeaks,
  findMixUps,
  leaksOnceForgotten,
  startPair,
  switchRowSecurity,
} from './isolation/isolation.ts';
import { findSessionLeaks } from './isolation/session-isolation.ts';
import { findTellTales } from './isolation/tell-tales.ts';
import type { Mode } from './served.ts';
import type { World } from './world.ts';

const CELLS_MIN = 2_000;

export interface CallerFigures {
  cells: number;
  wrong: number;
  probes: number;
  leaks: number;
}

/** Every caller on every route, and two organizations that must not meet. */
export function describeCallers(mode: Mode, worldOf: () => World, figures: CallerFigures): void {
  let access: Access;
  before(async () => {
    access = await startAccess(worldOf());
  });
  after(() => access?.upstream.close());

  function assertRight({ cells, wrong }: TableFigures): void {
    figures.cells += cells;
    figures.wrong += wrong.length;
    assert.equal(wrong.length, 0, `${wrong.length} wrong cells:\n  ${wrong.join('\n  ')}`);
  }
  function assertNone(leaks: readonly string[]): void {
    figures.leaks += leaks.length;
    assert.deepEqual(leaks, []);
  }

  it('are each answered by every route as the table says', async () => {
    const result = await compareTable(access);
    assert.ok(!mode.hosted || result.cells >= CELLS_MIN, `${result.cells} cells`);
    assertRight(result);
  });

  if (!mode.hosted) {
    // Last, because the probes leave the other organization's IDs in the list of requests.
    if (mode.accounts)
      it('do not tell an id of another organization from one that exists nowhere', async () => {
        const [{ organizationId } = { organizationId: '' }] = worldOf().callers;
        const pair = await startPair(access.setup, organizationId);
        assertNone(await findTellTales({ url: access.setup.url, sharedLimits: true, ...pair }));
      });
    return;
  }

  it('are answered the same when no query names its organization', async () => {
    assertRight(await compareCareless(access, worldOf().carelessUrl));
  });

  describe('two organizations with the same names for everything', () => {
    const leaksAt = async (url: string, isBroken = false) => {
      const { accounts, ownerOf } = access.setup;
      const pair = await startPair(access.setup);
      const found = await findLeaks({ url, accounts, ownerOf, isBroken, ...pair });
      figures.probes += found.probes;
      return found.leaks;
    };

    it('never see or touch one another by any list, filter, cursor or id', async () => {
      assertNone(await leaksAt(access.setup.url));
    });

    it('nor when no query names its organization', async () => {
      assertNone(await leaksAt(worldOf().carelessUrl));
    });

    it('do not tell an id of the other from one that exists nowhere', async () => {
      const pair = await startPair(access.setup);
      assertNone(await findTellTales({ url: access.setup.url, sharedLimits: false, ...pair }));
    });

    it('are served by their own providers, under names that are their own', async () => {
      assertNone(await findMixUps(access.setup, access.upstream, await startPair(access.setup)));
    });

    it('cannot end one another’s browser sessions or switch to one another', async () => {
      assertNone(await findSessionLeaks(access.setup.url));
    });

    describe('without row-level security', () => {
      before(() => switchRowSecurity(worldOf().accounts, 'disable'));
      after(() => switchRowSecurity(worldOf().accounts, 'enable'));

      it('are kept apart by the queries alone', async () => {
        assertNone(await leaksAt(access.setup.url));
      });

      it('meet everywhere once the queries forget as well, which shows that these tests look', async () => {
        const leaks = await leaksAt(worldOf().carelessUrl, true);
        const missing = leaksOnceForgotten.filter((start) => !leaks.some((leak) => leak.startsWith(start)));
        assert.deepEqual(missing, [], `found only:\n${leaks.join('\n')}`);
      });
    });
  });
}
