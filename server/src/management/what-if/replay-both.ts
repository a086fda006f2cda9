import { uuidTimeMs } from '../../kit/uuid-time.ts';
import type { ReplayedRow } from '../../store/ledger/log/read-replayed.ts';
import { compareSides } from './compare.ts';
import { createReplay } from './replay.ts';
import { type ReplayedRequest, replayedRequest, typicalService } from './replayed-request.ts';
import { tallyHistory } from './tally.ts';
import type { WhatIfInput, WhatIfReplayed } from './what-if-messages.ts';

/** How many requests are replayed between two looks at the clock. */
const AT_A_TIME = 500;

/** Replays the requests twice, side by side, so that both have seen the same requests when the time is over. */
export async function replayBoth(
  rows: readonly ReplayedRow[],
  { before, after, waitersMax, fromMs, toMs, tookMsMax }: WhatIfInput,
  monotonicMs: () => number,
): Promise<WhatIfReplayed> {
  const endMs = monotonicMs() + tookMsMax;
  const requests = rows
    .map(replayedRequest)
    .filter((request): request is ReplayedRequest => request !== null)
    .sort((a, b) => a.askMs - b.askMs);
  const typical = typicalService(requests);
  const sides = await Promise.all(
    [before, after].map((configuration) =>
      createReplay({ configuration, typical, waitersMax, startMs: fromMs }),
    ),
  );
  let sent = 0;
  while (sent < requests.length && monotonicMs() < endMs) {
    const part = requests.slice(sent, sent + AT_A_TIME);
    for (const { send } of sides) for (const request of part) await send(request);
    sent += part.length;
  }
  for (const { finish } of sides) await finish();
  const isCutShort = sent < requests.length;
  const replayed = requests.slice(0, sent);
  const last = replayed.at(-1);
  const untilMs = isCutShort && last !== undefined ? uuidTimeMs(last.id) : toMs;
  const [one, other] = sides;
  if (one === undefined || other === undefined) throw new RangeError('two replays were started');
  return {
    ...compareSides(
      { configuration: before, tally: one.tally },
      { configuration: after, tally: other.tally },
      untilMs - fromMs,
    ),
    to: new Date(untilMs).toISOString(),
    requests: replayed.length,
    left_out: rows.length - requests.length,
    history: tallyHistory(replayed),
    isCutShort,
  };
}
