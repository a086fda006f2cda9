import type { ResourceEdit, WhatIf } from '@relay/contract';
import type { Opening } from '../../admission/engine.ts';
import { limitsInForce } from '../../domain/limits/limits.ts';
import type { OrganizationSnapshot } from '../../domain/snapshot.ts';
import type { Call, Handlers } from '../../http/call.ts';
import { createShares, type Shares } from '../../kit/shares.ts';
import { uuidTimeMs } from '../../kit/uuid-time.ts';
import { findReplayed, readReplayed } from '../../store/ledger/log/read-replayed.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { queueFull } from '../resources/refusals.ts';
import { type BothConfigurations, createReadBoth, type ReadBoth } from './edited-configuration.ts';
import { openingsAt } from './opening-amounts.ts';
import { clientLeft, type ReplayThread, startReplayThread } from './replay-thread.ts';
import type { KeysOfReplay } from './route-replayed.ts';
import type { EditedLimit } from './what-if-messages.ts';

const DAY_MS = 86_400_000;
const DAYS_MAX = 7;
const REQUESTS_MAX = 100_000;
/** In one statement, some 1.5 MiB. */
const PAGE_ROWS = 2_500;
const REPLAY_MS_MAX = 20_000;
/** Those that wait for their turn included. One organization gets at most half of them. */
const PLACES_MAX = 16;
const TOO_MANY = 'Too many what-if replays are running. Wait for one to finish, then try again.';

/** Replays requests of the ledger with an edited configuration. Nothing that it does outlives it. */
export function whatIfHandlers(deps: ManagementDeps): Handlers {
  const places = createShares(PLACES_MAX);
  // One thread in a process, which organizations get in turn: it takes a processor and hundreds of MiB.
  const threads = createShares(1, false);
  const readBoth = createReadBoth(deps);
  return {
    whatIf: async (call) => {
      const { organizationId } = call.caller;
      const read = readBoth(call);
      const leave = places.tryTake(organizationId);
      if (leave === null) throw queueFull(TOO_MANY, REPLAY_MS_MAX / 1_000);
      try {
        const endTurn = await turnOf(threads, organizationId, call.ended);
        try {
          return await tryEdit(deps, call, read);
        } finally {
          endTurn();
        }
      } finally {
        leave();
      }
    },
  };
}

/** Waits for a turn; a client that disconnects meanwhile gives it up. */
async function turnOf(threads: Shares, organizationId: string, ended: AbortSignal): Promise<() => void> {
  const { promise, resolve, reject } = Promise.withResolvers<() => void>();
  const giveUp = threads.take(organizationId, resolve);
  const onEnd = () => {
    giveUp();
    reject(clientLeft());
  };
  ended.addEventListener('abort', onEnd, { once: true });
  if (ended.aborted) onEnd();
  try {
    return await promise;
  } finally {
    ended.removeEventListener('abort', onEnd);
  }
}

async function tryEdit(deps: ManagementDeps, call: Call<'whatIf'>, read: ReadBoth): Promise<WhatIf> {
  const thread = startReplayThread(call.ended);
  try {
    return await replay(deps, call, read, thread);
  } finally {
    await thread.end();
  }
}

async function replay(
  deps: ManagementDeps,
  { caller: { organizationId }, body: { days = DAYS_MAX, edit } }: Call<'whatIf'>,
  readBoth: ReadBoth,
  thread: ReplayThread,
): Promise<WhatIf> {
  const { clock, waitersMax } = deps;
  const db = deps.statisticsOf(organizationId);
  const startedMs = clock.monotonicMs();
  const toMs = clock.nowMs();
  const wanted = { fromMs: toMs - days * DAY_MS, toMs, max: REQUESTS_MAX };
  const range = await findReplayed(db, organizationId, wanted);
  const fromMs = range === null ? toMs : uuidTimeMs(range.fromId);
  const both = await readBoth(range?.keyIds ?? []);
  const withOpenings = async ({ snapshot, keys }: BothConfigurations['before']) => ({
    snapshot,
    keys,
    openings: await openingsOf(deps, snapshot, keys, fromMs),
  });
  thread.start({
    before: await withOpenings(both.before),
    after: await withOpenings(both.after),
    editedLaneId: edit?.operation === 'updateLane' ? (edit.id?.toLowerCase() ?? null) : null,
    editedLimit: editedLimitOf(edit),
    waitersMax,
    fromMs,
    toMs,
    tookMsMax: REPLAY_MS_MAX,
  });
  if (range !== null) await readReplayed(db, organizationId, range, PAGE_ROWS, thread.take);
  const { isCutShort, ...replayed } = await thread.finish();
  return {
    ...replayed,
    from: new Date(fromMs).toISOString(),
    cut: isCutShort ? 'time' : range?.isCut === true ? 'requests' : null,
    took_ms: Math.round(clock.monotonicMs() - startedMs),
  };
}

const LIMIT_EDITS: ReadonlySet<ResourceEdit['operation']> = new Set([
  'createLimitPolicy',
  'updateLimitPolicy',
  'upsertUserLimitPolicy',
  'upsertTeamLimitPolicy',
  'upsertApiKeyLimitPolicy',
]);

function editedLimitOf(edit: ResourceEdit | undefined): EditedLimit | null {
  if (edit === undefined || !LIMIT_EDITS.has(edit.operation)) return null;
  const id = edit.id ?? edit.body['limit_uuid'];
  return { id: typeof id === 'string' ? id.toLowerCase() : null };
}

function openingsOf(
  deps: Pick<ManagementDeps, 'statisticsOf'>,
  snapshot: OrganizationSnapshot,
  keys: KeysOfReplay,
  atMs: number,
): Promise<Opening[]> {
  const { organizationId } = snapshot;
  const keyPolicies = [...keys.values()].flatMap(({ policies }) => policies);
  const limits = limitsInForce(snapshot, keyPolicies).map(({ applied }) => applied);
  return openingsAt(deps.statisticsOf(organizationId), organizationId, limits, atMs);
}
