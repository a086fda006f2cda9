import type { Clock } from '../../kit/clock.ts';
import { type Egress, type EgressRequest, type OnceResult, sendOnce } from '../../kit/egress/index.ts';

export interface ProbeDeps {
  /** Each test has its own egress: its connections are new and do not wait behind requests. */
  readonly openEgress: () => Pick<Egress, 'dispatch' | 'close'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly timeoutMs: number;
  readonly responseBytesMax: number;
}

export type ProbeResult = OnceResult;

export type Send = (origin: string, request: EgressRequest) => Promise<ProbeResult>;

/** The egress of a test has no other. */
const ONLY_OWNER = 'test';

/** Lets `use` send requests through an egress that is closed afterwards. All of them share one deadline. */
export async function withProbe<T>(deps: ProbeDeps, use: (send: Send) => Promise<T>): Promise<T> {
  const egress = deps.openEgress();
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), deps.timeoutMs);
  const { clock, responseBytesMax } = deps;
  const once = { egress, clock, responseBytesMax, deadline: deadline.signal };
  try {
    return await use((origin, request) => sendOnce(once, origin, request, ONLY_OWNER));
  } finally {
    clearTimeout(timer);
    await egress.close();
  }
}
