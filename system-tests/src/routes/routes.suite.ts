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
import { describeCallers } from './callers.ts';
import { tryCarelessClients } from './careless-clients.ts';
import { echoFaults } from './echoes.ts';
import { checkHealth } from './health.ts';
import { listsMissed, walkPages } from './pages.ts';
import { checkPlatform } from './platform.ts';
import { createsMissed, type Made, makeOnce, makeTwice, objectsOf } from './repeats.ts';
import { routeOf } from './route-of.ts';
import { checkSituation } from './rules/check-situation.ts';
import { checkDirectInference, checkPaths } from './rules/doors.ts';
import { checkIntersection, checkKeys, checkRevocation, checkVisibility } from './rules/keys.ts';
import {
  checkKeyLimits,
  checkLimitEnabledAgain,
  checkMemberLimits,
  checkResourceLimits,
} from './rules/limits.ts';
import { checkOperations } from './rules/operations.ts';
import { type Scene, startScene } from './rules/scene.ts';
import { situations } from './rules/situations.ts';
import { checkDefaults, checkNames, checkValues } from './rules/values.ts';
import { createOnVersion, sendBack } from './sent-back.ts';
import { sentencesMissed } from './sentences.ts';
import { answerIn, type Mode, modes, unserved } from './served.ts';
import { checkSignOut } from './sign-out.ts';
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

// One deployment for each mode, and one walk over its routes with good and bad requests. Judges look at every answer: the contract (in
// the harness), what a mode and a caller may do, what was written, versions, pages, the audit log, secrets, and other organizations.

const managementRoutes = allRoutes.filter(({ plane }) => plane === 'management').map(({ id }) => id);
const called = new Set<string>();
const figures = { requests: 0, situations: 0, cells: 0, wrong: 0, probes: 0, leaks: 0 };
let failed = 0;

// A route that was never called counts as failed, because the deployment may not have started.
after(() => {
  const routes = called.size;
  reportFigures({ routes, failed: failed + managementRoutes.length - routes, ...figures });
});

it('each sentence of the specification is checked where the table says', () =>
  assert.deepEqual(sentencesMissed(), []));

const seeded = onServers('its organizations are put into the database');

describe('the routes', { concurrency: true }, () => {
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
    assert.ok(faults.length === 0, `${faults.length} faults:\n  ${faults.join('\n  ')}`);
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
    const names = await world.accounts.query('select name from organizations where id = $1', [
      world.foreign.organizationId,
    ]);
    // Embedded stores have no other organization.
    assert.ok(
      names.every(({ name }) => name === 'Elsewhere'),
      'another organization is renamed',
    );
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

  // After the audit log is compared, because the operator's browser is none of the walk's callers.
  if (mode.accounts && !mode.hosted)
    it('refuses every query parameter that a route lacks or has twice, and takes any way to send no body', async () => {
      await tryCarelessClients(world);
      assertNothing();
    });

  describe('inference', () => {
    let scene: Scene;
    before(async () => {
      scene = await startScene(world, maker());
    });
    after(() => scene?.close());
    const step = async (...checks: ((of: Scene) => Promise<void>)[]): Promise<void> => {
      for (const check of checks) await check(scene);
      assertNothing();
    };

    it('sends each operation to the provider as it was asked, and tells what was chosen, used and paid', () =>
      step(checkOperations));

    it('answers each situation with its status and code, and sends nothing that it refuses', async () => {
      const found: string[] = [];
      for (const situation of situations) found.push(...(await checkSituation(scene, situation)));
      figures.situations += situations.length;
      assertNothing(found);
    });

    it('takes the values that the documents name, and fills in what is left out', () =>
      step(checkDefaults, checkNames, checkValues));

    it('knows what a key may do by its scopes and by what its owner may do now', async () => {
      await step(checkKeys, checkRevocation);
      if (mode.accounts) await step(checkIntersection, checkVisibility);
    });

    it('holds the limits of keys, of members and of resources, the tightest first', async () => {
      await step(checkKeyLimits, checkLimitEnabledAgain);
      if (mode.accounts) await step(checkMemberLimits);
      if (!mode.hosted) await step(checkResourceLimits);
    });

    it('serves each route at its own prefix, and inference to the platform alone', async () => {
      await checkPaths(scene);
      if (mode.hosted) await checkDirectInference(scene);
      assertNothing();
    });

    if (mode.hosted)
      it('behind a platform: single models, HEAD, trailing slashes, 426, challenges and CORS are the same', () =>
        checkPlatform(world));

    if (mode.accounts)
      it('lets a suspended member do nothing but sign out', () =>
        checkSignOut(walk.url, String(Object.values(maker().headers)[0]).replace('Bearer ', '')));
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

  it('shows what was written as it was sent', () => assertNothing(echoFaults(walk.answers)));

  it('has shown no secret but once, in no answer and in no line of the log', () => {
    figures.requests += walk.answers.length;
    const logs = world.deployment.processes.flatMap((each) => each.logs);
    assertNothing(walk.secrets.leaksIn(walk.answers, logs));
  });

  seeded.describe('callers', () => describeCallers(mode, () => world, figures));
  if (mode.hosted)
    it('is never healthy while a store is down, in every role, refuses what it cannot count, and recovers', () =>
      checkHealth(world));
}
