import { WHAT_IF_LISTED_MAX, type WhatIf } from '@relay/contract';
import {
  type Compared,
  largestFirst,
  partDifferences,
  rejectingIn,
  type Side,
  summaryOf,
} from './compare.ts';
import type { Tally } from './tally.ts';

export interface ComparedLanes extends Compared {
  readonly history: Tally;
  /** How many requests were replayed, by lane. */
  readonly sentTo: ReadonlyMap<string, number>;
  /** Null for an edit of something else. */
  readonly editedLaneId: string | null;
}

type WhatIfLane = WhatIf['lanes'][number];

/** The edited lane, also without a difference, and then those that differ. */
export function compareLanes(compared: ComparedLanes): WhatIfLane[] {
  const { before, after, editedLaneId } = compared;
  const ids = new Set([...before.tally.laneIds(), ...after.tally.laneIds()]);
  if (editedLaneId !== null) ids.delete(editedLaneId);
  // A deleted lane has no name, and its requests name a model today.
  const known = [...ids].filter((id) => nameIn(after, id) !== undefined || nameIn(before, id) !== undefined);
  const others = largestFirst(
    known.map((id) => laneOf(compared, id)),
    ({ before: b, after: a }) => partDifferences(b, a),
  );
  const edited = editedLaneId === null ? [] : [laneOf(compared, editedLaneId)];
  return [...edited, ...others].slice(0, WHAT_IF_LISTED_MAX);
}

function laneOf({ before, after, history, sentTo, spanMs }: ComparedLanes, id: string): WhatIfLane {
  const part = { laneId: id };
  const figures = { before: before.tally.figures(part), after: after.tally.figures(part) };
  return {
    lane_id: id,
    lane_name: nameIn(after, id) ?? nameIn(before, id) ?? '',
    requests: sentTo.get(id) ?? 0,
    summary: summaryOf(figures.before, figures.after, spanMs),
    history: history.figures(part),
    ...figures,
    rejecting: rejectingIn(after, part),
  };
}

function nameIn({ configuration }: Side, laneId: string): string | undefined {
  return configuration.snapshot.lanes.get(laneId)?.name;
}
