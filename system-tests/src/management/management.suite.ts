import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { allRoutes } from '@relay/contract';
import { specManagementRoutes } from '@relay/contract/specification';
import { reportFigures } from '../harness/figures.ts';
import { onServers } from '../harness/stores.ts';
import type { Caller } from './answer.ts';
import { compareTrail, writesMissed } from './audit-trail.ts';
import { sendBadBodies } from './bad-bodies.ts';
import { listsMissed, walkPages } from './pages.ts';
import { createsMissed, type Made, makeTwice } from './repeats.ts';
import { routeOf } from './route-of.ts';
import { answerIn, type Mode, modes, unserved } from './served.ts';
import { tryTransport } from './transport.ts';
import { askForUnknown, idRoutesMissed } from './unknown-ids.ts';
import { changeByVersion, changesMissed, deleteByVersion } from './versions.ts';
import type { Walk } from './walk.ts';
import { walkAccount } from './walk-account.ts';
import { walkConfig } from './walk-config.ts';
import { walkGuardrails } from './walk-guardrails.ts';
import { walkLimits } from './walk-limits.ts';
import { walkOrganization } from './walk-organization.ts';
import { walkRouting } from './walk-routing.ts';
import { refuseKeys, walkSessions } from './walk-session.ts';
import { walkUsage } from './walk-usage.ts';
import { nobody, startWorld, trailReaders, type World } from './world.ts';

// The management interface as a client with `fetch` meets it, in every mode: section 4.2 of the specification row by
// row, then every other route, then what holds of all of them.

const managementRoutes = allRoutes.filter(({ plane }) => plane === 'management').map(({ id }) => id);
const called = new Set<string>();
let failed = 0;

// A route that was never called counts as failed, because the deployment may not have started.
after(() => reportFigures({ routes: called.size, failed: failed + managementRoutes.length - called.size }));

const seeded = onServers('its organizations are put into the database');

describe('management', { concurrency: true }, () => {
  for (const mode of Object.values<Mode>(modes)) {
    if (mode.hosted) seeded.describe(mode.name, () => inMode(mode));
    else describe(mode.name, { concurrency: 1 }, () => inMode(mode));
  }
});

function inMode(mode: Mode): void {
  let world: World;
  let walk: Walk;
  let first: Caller;
  let made: Made;
  before(async () => {
    world = await startWorld(mode);
    ({ walk } = world);
    [first = nobody] = world.callers;
  });
  after(() => world?.stop());

  function assertNothing(faults: readonly string[] = walk.takeFaults()): void {
    failed += faults.length;
    assert.equal(faults.length, 0, `${faults.length} faults:\n  ${faults.join('\n  ')}`);
  }

  /** Creates the resources, and reads and changes its own keys later: with accounts, a member who has keys. */
  const maker = () => world.callers.at(-1) ?? first;

  /** Once for everybody who may do everything in this mode. */
  async function forEachCaller(...steps: ((of: World, caller: Caller) => Promise<void>)[]): Promise<void> {
    for (const caller of world.callers) for (const step of steps) await step(world, caller);
    assertNothing();
  }

  it('answers section 4.2 with its statuses and exactly its fields', async () => {
    await forEachCaller(walkAccount, walkRouting, walkGuardrails, walkLimits, walkOrganization);
    const rows = specManagementRoutes.filter(({ line, status }) => {
      const route = routeOf(line);
      const expected = route === null ? '' : answerIn(mode, route, String(status));
      return !walk.answers.some((answer) => answer.route === route && answer.summary === expected);
    });
    assertNothing(rows.map(({ line, status }) => `${line} ${status} was not seen`));
  });

  it('takes the configuration as a file', () => forEachCaller(walkConfig));

  it('opens browser sessions to people, and none of their routes to keys', async () => {
    await walkSessions(world, first);
    await forEachCaller(refuseKeys);
  });

  it('makes one object of a create that is sent twice', async () => {
    assertNothing(createsMissed());
    for (const set of ['one', 'two', 'three']) made = await makeTwice(world, maker(), set);
    assertNothing();
  });

  it('tells of requests what they used, and nothing that they said', async () => {
    await walkUsage(world, maker(), made);
    assertNothing();
  });

  it('names the field and the fix of what it refuses', async () => {
    for (const caller of world.callers) {
      const sent = await sendBadBodies(world, caller, made);
      assert.ok(sent >= 30, `${sent} bad bodies`);
    }
    assertNothing();
  });

  it('knows nothing of what is not there, is elsewhere, or cannot be', async () => {
    assertNothing(idRoutesMissed());
    await askForUnknown(world, first);
    assertNothing();
  });

  it('turns pages to the same list', async () => {
    assertNothing(listsMissed(made));
    await walkPages(world, maker(), made);
    assertNothing();
  });

  it('changes and deletes only the version that was read', async () => {
    assertNothing(changesMissed(made));
    await changeByVersion(world, maker(), made);
    await deleteByVersion(world, maker(), made);
    assertNothing();
  });

  it('refuses other methods, paths, types, sizes and keys', async () => {
    await tryTransport(world);
    assertNothing();
  });

  it('has an entry in the audit log for every write, and no other', async () => {
    assertNothing(writesMissed());
    let writes = 0;
    for (const reader of await trailReaders(world)) writes += await compareTrail(world, reader);
    assertNothing();
    assert.ok(writes > 50, `${writes} writes`);
  });

  it('was asked for every route, and serves all but those that are still to come', () => {
    const answered = new Set(walk.answers.map(({ route }) => route));
    for (const route of answered) if (route !== null) called.add(route);
    assertNothing(
      managementRoutes.filter((route) => !answered.has(route)).map((route) => `${route} was not called`),
    );
    const open = new Set(walk.answers.filter(({ status }) => status === 501).map(({ route }) => route));
    assert.deepEqual([...open].toSorted(), [...unserved].toSorted());
  });

  it('has shown no secret but once, in no answer and in no line of the log', () => {
    const logs = world.deployment.processes.flatMap((each) => each.logs);
    assertNothing(walk.secrets.leaksIn(walk.answers, logs));
  });
}
