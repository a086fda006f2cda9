import { type NameChange, WHAT_IF_LISTED_MAX } from '@relay/contract';
import { limitsInForce } from '../../domain/limits/limits.ts';
import { takenNames } from '../../domain/routing/changed-names.ts';
import type { OrganizationSnapshot } from '../../domain/snapshot.ts';
import { uuidTimeMs } from '../../kit/uuid-time.ts';
import type { ReplayedRow } from '../../store/ledger/log/read-replayed.ts';
import { saidChange } from '../resources/name-changes.ts';
import { compareEdited, compareSides } from './compare.ts';
import { compareLanes } from './compare-lanes.ts';
import { createLaneOf } from './lane-of.ts';
import { createReplay, type Replay, type ReplayedConfiguration } from './replay.ts';
import { createTypicalService, type ReplayedRequest, replayedRequest } from './replayed-request.ts';
import { createTally, type IsOfEdit, tallyMet } from './tally.ts';
import type { WhatIfInput, WhatIfReplayed } from './what-if-messages.ts';

/** How many requests are replayed between two looks at the clock. */
const AT_A_TIME = 500;
const EDITED = 'edited';

/** Two replays of the same requests, side by side, so that both have seen the same when the time is over. */
export interface BothReplays {
  /** The next requests, by arrival. */
  take(rows: readonly ReplayedRow[]): Promise<void>;
  finish(): Promise<WhatIfReplayed>;
}

export async function startBothReplays(
  { before, after, editedLaneId, editedLimit, waitersMax, fromMs, toMs, tookMsMax }: WhatIfInput,
  monotonicMs: () => number,
): Promise<BothReplays> {
  const endMs = monotonicMs() + tookMsMax;
  const typical = createTypicalService();
  const laneOf = createLaneOf(before.snapshot, after.snapshot);
  const editedLimitId = editedLimit && (editedLimit.id ?? newLimitId(before, after));
  const isOfEdit = limitedIn(() => (editedLimitId === null ? [] : [today, edited]));
  const settings = { typical, laneOf, isOfEdit, editedLimitId, waitersMax, startMs: fromMs };
  const today: Replay = await createReplay({ ...settings, configuration: before });
  const edited: Replay = await createReplay({ ...settings, configuration: after });
  const history = createTally(laneOf, isOfEdit);
  /** By lane, and those that the edited limit applies to. */
  const sentTo = new Map<string, number>();
  /** Read, and not sent yet: requests that arrive later may ask for capacity earlier. */
  let pending: ReplayedRequest[] = [];
  let [sent, leftOut, untilMs] = [0, 0, fromMs];
  let isCutShort = false;

  async function send(requests: readonly ReplayedRequest[]): Promise<void> {
    for (let first = 0; first < requests.length; first += AT_A_TIME) {
      isCutShort ||= monotonicMs() > endMs;
      if (isCutShort) return;
      const part = requests.slice(first, first + AT_A_TIME);
      for (const replay of [today, edited]) for (const request of part) await replay.send(request);
      for (const request of part) {
        tallyMet(history, request);
        countIn(sentTo, laneOf(request));
        countIn(sentTo, isOfEdit(request) ? EDITED : null);
      }
      sent += part.length;
      untilMs = uuidTimeMs(part.at(-1)?.id ?? '');
    }
  }

  return {
    async take(rows) {
      const last = rows.at(-1);
      if (isCutShort || last === undefined) return;
      const requests = replayable(rows);
      leftOut += rows.length - requests.length;
      typical.add(requests);
      const known = [...pending, ...requests].sort((a, b) => a.askMs - b.askMs);
      pending = takeLater(known, uuidTimeMs(last.request_id));
      await send(known);
    },
    async finish() {
      await send(pending);
      for (const replay of [today, edited]) await replay.finish();
      const endedMs = isCutShort ? untilMs : toMs;
      const sides = {
        before: { configuration: before, tally: today.tally },
        after: { configuration: after, tally: edited.tally },
        spanMs: endedMs - fromMs,
      };
      return {
        ...compareSides(sides),
        limit: editedLimit && compareEdited({ ...sides, history, requests: sentTo.get(EDITED) ?? 0 }),
        lanes: compareLanes({ ...sides, history, sentTo, editedLaneId }),
        to: new Date(endedMs).toISOString(),
        requests: sent,
        left_out: leftOut,
        name_changes: takenBetween(before.snapshot, after.snapshot),
        history: history.figures('all'),
        isCutShort,
      };
    },
  };
}

function takenBetween(before: OrganizationSnapshot, after: OrganizationSnapshot): NameChange[] {
  const lanes = [...before.lanes.values(), ...after.lanes.values()];
  const taken = takenNames(before, after).slice(0, WHAT_IF_LISTED_MAX);
  return taken.map((each) => saidChange(each, lanes).change);
}

/** The limit that only the edited configuration has; null if the edit adds none that is in force. */
function newLimitId(before: ReplayedConfiguration, after: ReplayedConfiguration): string | null {
  const idsIn = ({ snapshot, keys }: ReplayedConfiguration) =>
    limitsInForce(
      snapshot,
      [...keys.values()].flatMap(({ policies }) => policies),
    ).map(({ described }) => described.id);
  const known = new Set(idsIn(before));
  return idsIn(after).find((id) => !known.has(id)) ?? null;
}

/** Whether the edited limit applies in one of the replays; asked several times about each request. */
function limitedIn(replays: () => readonly Replay[]): IsOfEdit {
  const known = new WeakMap<ReplayedRequest, boolean>();
  return (request) => {
    const isLimited = known.get(request) ?? replays().some((replay) => replay.isLimited(request));
    known.set(request, isLimited);
    return isLimited;
  };
}

/** Takes those that ask after this moment out of a list in that order. */
function takeLater(requests: ReplayedRequest[], atMs: number): ReplayedRequest[] {
  const first = requests.findIndex(({ askMs }) => askMs > atMs);
  return first < 0 ? [] : requests.splice(first);
}

/** Without those that no configuration decides about. */
function replayable(rows: readonly ReplayedRow[]): ReplayedRequest[] {
  return rows.map(replayedRequest).filter((request) => request !== null);
}

function countIn(counts: Map<string, number>, part: string | null): void {
  if (part !== null) counts.set(part, (counts.get(part) ?? 0) + 1);
}
