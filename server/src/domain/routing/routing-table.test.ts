import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { finish } from '../../kit/slices.ts';
import { prepareSnapshot } from '../prepare-snapshot.ts';
import { credential, endpoint, lane, member, provider, snapshot } from '../snapshot.fixture.ts';
import type { OrganizationSnapshot } from '../snapshot.ts';
import { prepareRouting, routingTableOf } from './routing.ts';

// Few names, so that lanes, providers and models often collide.
const NAMES = ['a', 'b', 'a/b', 'b/a', 'a/a'] as const;
const name = fc.constantFrom(...NAMES);
const id = (kind: string) => fc.nat({ max: 3 }).map((n) => `${kind}${n}`);
const distinct = { selector: (each: { id: string }) => each.id, maxLength: 4 };

const organization: fc.Arbitrary<OrganizationSnapshot> = fc
  .record({
    providers: fc.uniqueArray(
      fc.record({
        id: id('p'),
        slug: name,
        enabled: fc.boolean(),
        path: fc.constantFrom('/v1', '?not=allowed'),
      }),
      distinct,
    ),
    credentials: fc.uniqueArray(
      fc.record({ id: id('c'), providerId: id('p'), enabled: fc.boolean(), createdAtMs: fc.nat({ max: 2 }) }),
      distinct,
    ),
    endpoints: fc.uniqueArray(
      fc.record({
        id: id('e'),
        providerId: id('p'),
        credentialId: fc.option(id('c')),
        model: name,
        enabled: fc.boolean(),
        createdAtMs: fc.nat({ max: 2 }),
      }),
      distinct,
    ),
    lanes: fc.uniqueArray(fc.record({ id: id('l'), slug: name, name, enabled: fc.boolean() }), distinct),
    memberships: fc.array(fc.tuple(id('l'), id('e'), fc.nat({ max: 2 }), fc.boolean()), { maxLength: 8 }),
  })
  .map((made) =>
    snapshot({
      providers: made.providers.map(({ path, ...over }) =>
        provider(over.id, { ...over, baseUrl: `https://${over.id}.example.com${path}` }),
      ),
      credentials: made.credentials.map((over) => credential(over.id, over.providerId, over)),
      endpoints: made.endpoints.map(({ model, ...over }) => endpoint(over.id, over.providerId, model, over)),
      lanes: made.lanes.map((over) => lane(over.id, over)),
      memberships: made.memberships.map((each) => member(...each)),
    }),
  );

/** The definition, word for word: looks at everything for every name. */
function resolved(of: OrganizationSnapshot, model: string) {
  const served = [...of.endpoints.values()]
    .filter(({ providerId }) => of.providers.get(providerId)?.baseUrl.endsWith('/v1') === true)
    .toSorted((a, b) => a.createdAtMs - b.createdAtMs);
  const withCredential = (endpointId: string) => {
    const { providerId, credentialId } = of.endpoints.get(endpointId) ?? assert.fail(endpointId);
    const usable = [...of.credentials.values()]
      .filter((each) => each.providerId === providerId && each.enabled)
      .filter((each) => credentialId === null || each.id === credentialId)
      .toSorted((a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1));
    return [endpointId, usable[0]?.id ?? null] as const;
  };
  const lanes = [...of.lanes.values()].filter(({ enabled }) => enabled);
  const found = lanes.findLast(({ slug }) => slug === model) ?? lanes.findLast((each) => each.name === model);
  if (found !== undefined) {
    const members = of.memberships
      .filter(
        ({ laneId, endpointId }) => laneId === found.id && served.some((each) => each.id === endpointId),
      )
      .toSorted((a, b) => a.manualRank - b.manualRank)
      .map(({ endpointId, enabled, manualRank }) => [...withCredential(endpointId), enabled, manualRank]);
    return { laneId: found.id, members };
  }
  const slugOf = (providerId: string) => of.providers.get(providerId)?.slug;
  const byProvider = served.filter((each) => `${slugOf(each.providerId)}/${each.upstreamModel}` === model);
  const byModel = served.filter((each) => each.upstreamModel === model);
  const members = byProvider.length > 0 ? byProvider : byModel;
  if (members.length === 0) return undefined;
  return { laneId: null, members: members.map((each, rank) => [...withCredential(each.id), true, rank]) };
}

function fromTable(of: OrganizationSnapshot, model: string) {
  const route = routingTableOf(of).resolve(model);
  if (route === undefined) return undefined;
  const members = route.members.map(({ candidate, membershipEnabled, manualRank }) => [
    candidate.endpoint.id,
    candidate.credential?.id ?? null,
    membershipEnabled,
    manualRank,
  ]);
  return { laneId: route.lane?.id ?? null, members };
}

describe('the routing table', () => {
  it('resolves every name as a search through the whole configuration would', () => {
    fc.assert(
      fc.property(organization, (of) => {
        for (const model of [...NAMES, 'a/a/b', 'b/a/b', 'none']) {
          assert.deepEqual(fromTable(of, model), resolved(of, model), model);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('is not seen before it is complete', () => {
    const of = snapshot({ providers: [provider('p')], endpoints: [endpoint('e', 'p', 'm')] });
    const building = prepareRouting(of);
    building.next();
    assert.ok(routingTableOf(of).resolve('m'));
  });

  it('is the prepared one', () => {
    const of = snapshot({ providers: [provider('p')], endpoints: [endpoint('e', 'p', 'm')] });
    const table = finish(prepareRouting(of));
    assert.equal(routingTableOf(of), table);
  });

  it('of 10,000 lanes, endpoints, credentials and memberships takes no seconds', () => {
    const of = large(10_000);
    const before = process.cpuUsage();
    finish(prepareSnapshot(of));
    const { user, system } = process.cpuUsage(before);
    // About 100 ms. A build that looks at everything for each lane takes 8,000 and more.
    assert.ok(user + system < 2_000_000, `${(user + system) / 1_000} ms`);
  });
});

/** As many lanes, endpoints and credentials as `count`, on one provider and one model. */
function large(count: number): OrganizationSnapshot {
  const all = Array.from({ length: count }, (_, index) => String(index));
  return snapshot({
    providers: [provider('p')],
    credentials: all.map((each) => credential(`c${each}`, 'p')),
    endpoints: all.map((each) => endpoint(`e${each}`, 'p', 'm')),
    lanes: all.map((each) => lane(`l${each}`)),
    memberships: all.map((each) => member(`l${each}`, `e${each}`, 0)),
  });
}
