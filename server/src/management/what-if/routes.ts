import type { WhatIf, WhatIfRequest } from '@relay/contract';
import type { Opening } from '../../admission/engine.ts';
import { limitsInForce } from '../../domain/limits/limits.ts';
import type { OrganizationSnapshot } from '../../domain/snapshot.ts';
import type { Handlers } from '../../http/call.ts';
import { createShares } from '../../kit/shares.ts';
import { uuidTimeMs } from '../../kit/uuid-time.ts';
import { readKeyTerms } from '../../store/keys/read-key-terms.ts';
import { findReplayed, readReplayed } from '../../store/ledger/log/read-replayed.ts';
import type { ConfigFileDeps } from '../config-file/routes.ts';
import { queueFull } from '../connection-tests/running-tests.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { readBothSnapshots } from './edited-configuration.ts';
import { openingsAt } from './opening-amounts.ts';
import { type ReplayThread, startReplayThread } from './replay-thread.ts';
import type { KeysOfReplay } from './route-replayed.ts';

const DAY_MS = 86_400_000;
const DAYS_MAX = 7;
const REQUESTS_MAX = 100_000;
/** In one statement, some 1.5 MiB. */
const PAGE_ROWS = 2_500;
const REPLAY_MS_MAX = 20_000;
/** Those that wait for their turn included. One organization gets at most half of them. */
const PLACES_MAX = 16;
const TOO_MANY = 'Too many what-ifs are running. Wait until one of them ends, then try again.';

type WhatIfDeps = ConfigFileDeps & Pick<ManagementDeps, 'statisticsOf' | 'waitersMax'>;

/** Replays requests of the ledger with an edited configuration. Nothing that it does outlives it. */
export function whatIfHandlers(deps: WhatIfDeps): Handlers {
  const places = createShares(PLACES_MAX);
  // One thread in a process, which organizations get in turn: it takes a processor and hundreds of MiB.
  const threads = createShares(1, false);
  return {
    whatIf: async ({ caller: { organizationId }, body }) => {
      const leave = places.tryTake(organizationId);
      if (leave === null) throw queueFull(TOO_MANY, REPLAY_MS_MAX / 1_000);
      const { promise, resolve } = Promise.withResolvers<() => void>();
      threads.take(organizationId, resolve);
      const endTurn = await promise;
      try {
        return await tryEdit(deps, organizationId, body);
      } finally {
        endTurn();
        leave();
      }
    },
  };
}

async function tryEdit(deps: WhatIfDeps, organizationId: string, body: WhatIfRequest): Promise<WhatIf> {
  const both = await readBothSnapshots(deps, organizationId, body);
  const thread = startReplayThread();
  try {
    return await replay(deps, organizationId, body, both, thread);
  } finally {
    await thread.end();
  }
}

async function replay(
  deps: WhatIfDeps,
  organizationId: string,
  { days = DAYS_MAX }: Pick<WhatIfRequest, 'days'>,
  { before, after }: { readonly before: OrganizationSnapshot; readonly after: OrganizationSnapshot },
  thread: ReplayThread,
): Promise<WhatIf> {
  const { clock, waitersMax } = deps;
  const db = deps.statisticsOf(organizationId);
  const startedMs = clock.monotonicMs();
  const toMs = clock.nowMs();
  const wanted = { fromMs: toMs - days * DAY_MS, toMs, max: REQUESTS_MAX };
  const range = await findReplayed(db, organizationId, wanted);
  const fromMs = range === null ? toMs : uuidTimeMs(range.fromId);
  const keys = await readKeyTerms(db, organizationId, range?.keyIds ?? []);
  const configured = async (snapshot: OrganizationSnapshot) => ({
    snapshot,
    keys,
    openings: await openingsOf(deps, snapshot, keys, fromMs),
  });
  thread.start({
    before: await configured(before),
    after: await configured(after),
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

function openingsOf(
  deps: WhatIfDeps,
  snapshot: OrganizationSnapshot,
  keys: KeysOfReplay,
  atMs: number,
): Promise<Opening[]> {
  const { organizationId } = snapshot;
  const keyPolicies = [...keys.values()].flatMap(({ policies }) => policies);
  const limits = limitsInForce(snapshot, keyPolicies).map(({ applied }) => applied);
  return openingsAt(deps.statisticsOf(organizationId), organizationId, limits, atMs);
}
