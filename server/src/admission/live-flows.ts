import type { LiveOperation } from './live-operations.ts';

/** The requests of one lane that wait for one endpoint or are in flight there. */
export interface LiveFlow {
  /** Null for requests that name a model instead of a lane. */
  readonly laneId: string | null;
  readonly endpointId: string;
  readonly waiting: number;
  /** 0 when no request waits. */
  readonly longestWaitMs: number;
  readonly inFlight: number;
}

/** Counts the requests of an organization, or of one of its users, one of its keys, or both. */
export interface FlowsAsk {
  readonly organizationId: string;
  readonly userId: string | undefined;
  readonly keyId?: string | undefined;
}

/** Whether a request is among those that are asked for. */
export function isAsked(
  { userId, keyId }: Pick<FlowsAsk, 'userId' | 'keyId'>,
  about: { readonly userId: string; readonly keyId: string | null },
): boolean {
  if (userId !== undefined && about.userId !== userId) return false;
  return keyId === undefined || about.keyId === keyId;
}

/** Counts the requests of one process. Operations without `about` are internal and not counted. */
export function flowsOf(live: Iterable<LiveOperation>, asked: FlowsAsk, nowMs: number): LiveFlow[] {
  const flows: LiveFlow[] = [];
  for (const { ask, state, candidate, stateSinceMs } of live) {
    if (ask.organizationId !== asked.organizationId || ask.about === undefined) continue;
    if (!isAsked(asked, ask.about)) continue;
    const waits = state === 'waiting';
    flows.push({
      laneId: ask.about.laneId,
      endpointId: ask.candidates[candidate]?.endpointId ?? '',
      waiting: waits ? 1 : 0,
      longestWaitMs: waits ? Math.max(0, Math.round(nowMs - stateSinceMs)) : 0,
      inFlight: waits ? 0 : 1,
    });
  }
  return joinFlows(flows);
}

/** One flow for each pair of lane and endpoint. */
export function joinFlows(flows: Iterable<LiveFlow>): LiveFlow[] {
  const joined = new Map<string, LiveFlow>();
  for (const flow of flows) {
    const key = `${flow.laneId ?? ''} ${flow.endpointId}`;
    const before = joined.get(key);
    joined.set(
      key,
      before === undefined
        ? flow
        : {
            ...flow,
            waiting: before.waiting + flow.waiting,
            longestWaitMs: Math.max(before.longestWaitMs, flow.longestWaitMs),
            inFlight: before.inFlight + flow.inFlight,
          },
    );
  }
  return [...joined.values()];
}
