import { RelayError } from '../../domain/relay-error.ts';
import { systemClock } from '../../kit/clock.ts';
import type { SetAside } from '../../kit/set-aside.ts';
import type { AdmissionEngine } from '../engine.ts';
import type { LineReplies } from './line-replies.ts';
import type { MendedScripts } from './mend-lines.ts';
import type { CallDeps } from './plain-calls.ts';
import type { StoreClock } from './store-clock.ts';
import { listOf, readReleases, recountArguments } from './wire.ts';

const SWEPT_PER_CALL = 100;
const SHARDS_AT_ONCE = 32;

export interface LineCallDeps extends CallDeps {
  readonly mended: MendedScripts;
  readonly aside: Pick<SetAside, 'note'>;
  readonly gatewayId: string;
  readonly storeClock: StoreClock;
  readonly replies: LineReplies;
  readonly ageOf: (storeMs: number, tookMs: number) => number;
}

/** Calls that move a line. */
export function createLineCalls(
  deps: LineCallDeps,
): Pick<AdmissionEngine, 'step' | 'changeLimits' | 'recount' | 'sweep'> {
  return {
    async step(organizationId) {
      await move(deps, 'step', organizationId, []);
    },
    async changeLimits(organizationId, version, changes) {
      const args = changes.flatMap(({ policyId, limit }) => [policyId, limit === null ? '' : String(limit)]);
      await move(deps, 'change-limits', organizationId, [String(version), ...args]);
    },
    async recount(organizationId, recounts) {
      const reply = await move(deps, 'recount', organizationId, recountArguments(recounts));
      return Number(reply[4]);
    },
    async sweep() {
      let ended = 0;
      const prefixes = await deps.scripts.shards();
      for (let from = 0; from < prefixes.length; from += SHARDS_AT_ONCE) {
        const some = prefixes.slice(from, from + SHARDS_AT_ONCE);
        for (const count of await Promise.all(some.map((prefix) => sweepShard(deps, prefix)))) ended += count;
      }
      return ended;
    },
  };
}

/** Bounded: the next sweep takes the rest of a shard. A shard that is unavailable does not stop the others. */
async function sweepShard(deps: LineCallDeps, prefix: string): Promise<number> {
  const { scripts, time, gatewayId, replies, mended, aside } = deps;
  const args = [time(), gatewayId, String(SWEPT_PER_CALL)];
  try {
    const [count, , releases, unreadable, broken] = listOf(await scripts.run('sweep', prefix, args));
    for (const release of readReleases(releases)) replies.released(release, 0);
    for (const operation of listOf(unreadable))
      aside.note('lease', { prefix, operation }, 'set aside an unreadable lease');
    for (const line of listOf(broken)) {
      const [organizationId = '', why = ''] = listOf(line).map(String);
      await mended.drop(prefix, organizationId, why);
    }
    return Number(count);
  } catch (error) {
    // The client of Redis tells of outages.
    if (!isUnavailable(error))
      aside.note('lease', { prefix, err: error }, 'could not end the expired leases of a shard');
    return 0;
  }
}

/** Runs a script that moves the line of an organization, and tells what it did. */
async function move(
  { mended, time, prefixFor, gatewayId, storeClock, replies, ageOf }: LineCallDeps,
  name: 'step' | 'change-limits' | 'recount',
  organizationId: string,
  args: readonly string[],
): Promise<readonly unknown[]> {
  const prefix = prefixFor(organizationId);
  const sentMs = systemClock.monotonicMs();
  const reply = await mended
    .run(name, prefix, [organizationId], [time(), gatewayId, organizationId, ...args])
    .then(listOf)
    .catch((error: unknown) => {
      replies.missed(prefix);
      throw error;
    });
  const [now, releases, inMs, moved] = reply;
  const tookMs = systemClock.monotonicMs() - sentMs;
  storeClock.told(Number(now), tookMs);
  const told = readReleases(releases);
  const agoMs = ageOf(Number(now), tookMs);
  setImmediate(() => {
    for (const release of told) replies.released(release, agoMs);
    replies.next(organizationId, Number(inMs), Number(moved) === 1);
  });
  return reply;
}

function isUnavailable(error: unknown): boolean {
  return error instanceof RelayError && error.code === 'store_unavailable';
}
