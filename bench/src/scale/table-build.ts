// Builds the tables of an organization of some size, with the code of a checkout, and prints what that takes.
// Started as `node table-build.ts --root DIR --size N --times N`.
import { parseArgs } from 'node:util';
import { findModule, loadModule } from '../checkouts/load-module.ts';
import { positive } from '../command-line.ts';
import { median, rounded } from '../statistics.ts';

/** What this file uses of `server/src/domain/snapshot.fixture.ts`. */
interface Fixtures {
  provider(id: string): object;
  credential(id: string, providerId: string): object;
  endpoint(id: string, providerId: string, upstreamModel: string): object;
  lane(id: string): object;
  member(laneId: string, endpointId: string, manualRank: number): object;
  snapshot(parts: Record<string, readonly object[]>): object;
}
type Build = (snapshot: object) => unknown;

const ENDPOINTS_PER_PROVIDER = 100;

const { values } = parseArgs({
  options: { root: { type: 'string' }, size: { type: 'string' }, times: { type: 'string' } },
});
const size = positive('--size', values.size ?? '');
const times = positive('--times', values.times ?? '');
const fixtures = await loadModule<Fixtures>(values.root ?? '', 'domain/snapshot.fixture.ts');
const build = await buildOf(values.root ?? '');

const cpuMs: number[] = [];
for (let time = 0; time < times; time += 1) {
  const snapshot = snapshotOf(size);
  const before = process.threadCpuUsage();
  build(snapshot);
  const used = process.threadCpuUsage(before);
  cpuMs.push((used.user + used.system) / 1_000);
}
process.stdout.write(
  `${JSON.stringify({ median: rounded(median(cpuMs), 1), first: rounded(cpuMs[0] ?? 0, 1) })}\n`,
);

/** Editions that build tables in steps have all of them in one place; those before built them on first use. */
async function buildOf(root: string): Promise<Build> {
  const inSteps = await findModule<{ prepareSnapshot(snapshot: object): Iterable<unknown> }>(
    root,
    'domain/prepare-snapshot.ts',
  );
  if (inSteps !== null) return (snapshot) => [...inSteps.prepareSnapshot(snapshot)].length;
  const { routingTableOf } = await loadModule<{ routingTableOf: Build }>(
    root,
    'domain/routing/routing.ts',
    'domain/routing.ts',
  );
  return routingTableOf;
}

/** As many lanes, endpoints and policies; every lane has an endpoint of its own and every endpoint a policy. */
function snapshotOf(count: number): object {
  const indexes = Array.from({ length: count }, (_, index) => index);
  const providers = indexes
    .slice(0, Math.ceil(count / ENDPOINTS_PER_PROVIDER))
    .map((index) => `provider-${index}`);
  const providerOf = (index: number) => providers[Math.floor(index / ENDPOINTS_PER_PROVIDER)] ?? '';
  return fixtures.snapshot({
    providers: providers.map((id) => fixtures.provider(id)),
    credentials: providers.map((id) => fixtures.credential(`credential-of-${id}`, id)),
    endpoints: indexes.map((index) =>
      fixtures.endpoint(`endpoint-${index}`, providerOf(index), `model-${index % 7}`),
    ),
    lanes: indexes.map((index) => fixtures.lane(`lane-${index}`)),
    memberships: indexes.map((index) => fixtures.member(`lane-${index}`, `endpoint-${index}`, 1)),
    limitPolicies: indexes.map((index) => ({
      id: `policy-${index}`,
      scopeType: 'endpoint',
      scopeId: `endpoint-${index}`,
      metric: 'requests',
      period: 'minute',
      limitValue: 1_000_000,
    })),
  });
}
