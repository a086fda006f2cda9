import { uuidTimeMs } from '../../kit/uuid-time.ts';
import type { ReplayedRow } from '../../store/ledger/log/read-replayed.ts';
import { compareSides } from './compare.ts';
import { compareLanes } from './compare-lanes.ts';
import { createLaneOf } from './lane-of.ts';
import { createReplay } from './replay.ts';
import { createTypicalService, type ReplayedRequest, replayedRequest } from './replayed-request.ts';
import { createTally, tallyMet } from './tally.ts';
import type { WhatIfInput, WhatIfReplayed } from './what-if-messages.ts';

/** How many requests are replayed between two looks at the clock. */
const AT_A_TIME = 500;

/** Two replays of the same requests, side by side, so that both have seen the same when the time is over. */
export interface BothReplays {
  /** The next requests, by arrival. */
  take(rows: readonly ReplayedRow[]): Promise<void>;
  finish(): Promise<WhatIfReplayed>;
}

export async function startBothReplays(
  { before, after, editedLaneId, waitersMax, fromMs, toMs, tookMsMax }: WhatIfInput,
  monotonicMs: () => number,
): Promise<BothReplays> {
  const endMs = monotonicMs() + tookMsMax;
  const typical = createTypicalService();
  const laneOf = createLaneOf(before.snapshot, after.snapshot);
  const settings = { typical, laneOf, waitersMax, startMs: fromMs };
  const today = await createReplay({ ...settings, configuration: before });
  const edited = await createReplay({ ...settings, configuration: after });
  const history = createTally(laneOf);
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
        const laneId = laneOf(request);
        if (laneId !== null) sentTo.set(laneId, (sentTo.get(laneId) ?? 0) + 1);
      }
      sent += part.length;
      untilMs = uuidTimeMs(part.at(-1)?.id ?? '');
    }
  }

  return {
    async take(rows) {
      const last = rows.at(-1);
      if (isCutShort || last === undefined) return;
      const requests = rows
        .map(replayedRequest)
        .filter((request): request is ReplayedRequest => request !== null);
      leftOut += rows.length - requests.length;
      typical.add(requests);
      const known = [...pending, ...requests].sort((a, b) => a.askMs - b.askMs);
      const readMs = uuidTimeMs(last.request_id);
      const later = known.findIndex(({ askMs }) => askMs > readMs);
      pending = later < 0 ? [] : known.splice(later);
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
        lanes: compareLanes({ ...sides, history, sentTo, editedLaneId }),
        to: new Date(endedMs).toISOString(),
        requests: sent,
        left_out: leftOut,
        history: history.figures(),
        isCutShort,
      };
    },
  };
}
