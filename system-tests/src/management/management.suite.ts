import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { allRoutes } from '@relay/contract';
import { specManagementRoutes } from '@relay/contract/specification';
import { reportFigures } from '../harness/figures.ts';
import type { Objects } from '../harness/objects.ts';
import { onServers } from '../harness/stores.ts';
import { type Caller, textAt } from './answer.ts';
import { compareTrail, writesMissed } from './audit-trail.ts';
import { sendBadBodies } from './bad-bodies.ts';
import { listsMissed, walkPages } from './pages.ts';
import { createsMissed, type Made, makeOnce, makeTwice, objectsOf } from './repeats.ts';
import { routeOf } from './route-of.ts';
import { createOnVersion, sendBack } from './sent-back.ts';
import { answerIn, type Mode, modes, unserved } from './served.ts';
import { tryTransport } from './transport.ts';
import { askForUnknown } from './unknown-ids.ts';
import { changeByVersion, deleteByVersion } from './versions.ts';
import type { Walk } from './walk.ts';
import { walkAccount } from './walk-account.ts';
import { walkConfig } from './walk-config.ts';
import { walkLimits } from './walk-limits.ts';
import { walkOrganization } from './walk-organization.ts';
import { walkReads } from './walk-reads.ts';
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
  let objects: Objects;
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

  it('keeps what was written of accounts, routing, limits and members', () =>
    forEachCaller(walkAccount, walkRouting, walkLimits, walkOrganization));

  it('takes the configuration as a file', () => forEachCaller(walkConfig));

  it('opens browser sessions to people, and none of their routes to keys', async () => {
    await walkSessions(world, first);
    await forEachCaller(refuseKeys);
  });

  it('makes one object of a create that is sent twice', async () => {
    assertNothing(createsMissed());
    await makeTwice(world, maker(), 'one');
    for (const set of ['two', 'three']) made = await makeOnce(world, maker(), set);
    assertNothing();
  });

  it('tells of requests what they used, and nothing that they said, on every route that reads', async () => {
    const slug = textAt(
      await walk.expect(maker(), `GET /api/relay/routing-lanes/${made.lane}`, '200'),
      'slug',
    );
    const requestId = await walkUsage(world, maker(), slug);
    objects = objectsOf(made, slug, requestId, world.memberId);
    await forEachCaller((of, caller) => walkReads(of, caller, objects));
  });

  it('names the field and the fix of what it refuses', async () => {
    for (const caller of world.callers) {
      const sent = await sendBadBodies(world, caller, made);
      assert.ok(sent >= 30, `${sent} bad bodies`);
    }
    assertNothing();
  });

  it('knows nothing of what is not there, is elsewhere, or cannot be', async () => {
    const asked = await askForUnknown(world, first);
    assert.ok(asked >= 45, `${asked} routes`);
    assertNothing();
  });

  it('turns pages to the same list', async () => {
    assertNothing(listsMissed(made));
    await walkPages(world, maker(), made);
    assertNothing();
  });

  it('takes back what was read, under the version that was read, from a typed client', async () => {
    await sendBack(world, maker(), made);
    await createOnVersion(world, maker(), made);
    assertNothing();
  });

  it('changes and deletes only the version that was read', async () => {
    await changeByVersion(world, maker(), made, objects);
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
    const rows = specManagementRoutes.filter(({ line, status }) => {
      const route = routeOf(line);
      const expected = route === null ? '' : answerIn(mode, route, String(status));
      return !walk.answers.some((answer) => answer.route === route && answer.summary === expected);
    });
    assertNothing(rows.map(({ line, status }) => `${line} ${status} was not seen`));
    const open = new Set(walk.answers.filter(({ status }) => status === 501).map(({ route }) => route));
    assert.deepEqual([...open].toSorted(), [...unserved].toSorted());
  });

  it('has shown no secret but once, in no answer and in no line of the log', () => {
    const logs = world.deployment.processes.flatMap((each) => each.logs);
    assertNothing(walk.secrets.leaksIn(walk.answers, logs));
  });
}
