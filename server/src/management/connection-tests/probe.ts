import type { Clock } from '../../kit/clock.ts';
import type { Egress, EgressController, EgressHandler, EgressRequest } from '../../kit/egress/index.ts';
import { type FailureReason, failureReasonOf } from '../../kit/egress/index.ts';

export interface ProbeDeps {
  /** Each test has its own egress: its connections are new and do not wait behind requests. */
  readonly openEgress: () => Pick<Egress, 'dispatch' | 'close'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly timeoutMs: number;
  readonly responseBytesMax: number;
}

export type ProbeResult = Answered | Failed;

export interface Answered {
  readonly kind: 'answered';
  readonly status: number;
  readonly body: Buffer;
  /** False when the response was larger than a test reads. */
  readonly complete: boolean;
  readonly connectMs: number;
  readonly respondMs: number;
}

export interface Failed {
  readonly kind: 'failed';
  readonly reason: FailureReason;
  /** Null when there was no connection. */
  readonly connectMs: number | null;
  readonly waitedMs: number;
}

export type Send = (origin: string, request: EgressRequest) => Promise<ProbeResult>;

/** Lets `use` send requests through an egress that is closed afterwards. All of them share one deadline. */
export async function withProbe<T>(deps: ProbeDeps, use: (send: Send) => Promise<T>): Promise<T> {
  const egress = deps.openEgress();
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), deps.timeoutMs);
  try {
    return await use((origin, request) => sendOnce(deps, egress, deadline.signal, origin, request));
  } finally {
    clearTimeout(timer);
    await egress.close();
  }
}

/** The egress of a test has no other. */
const ONLY_OWNER = 'test';

/** Never throws: every failure is a result. */
function sendOnce(
  deps: ProbeDeps,
  egress: Pick<Egress, 'dispatch'>,
  deadline: AbortSignal,
  origin: string,
  request: EgressRequest,
): Promise<ProbeResult> {
  return new Promise((resolve) => {
    const probe = new Probe(deps, (result) => {
      deadline.removeEventListener('abort', expire);
      resolve(result);
    });
    const expire = () => probe.fail('timed_out');
    deadline.addEventListener('abort', expire);
    if (deadline.aborted) expire();
    else egress.dispatch(origin, request, probe, ONLY_OWNER);
  });
}

class Probe implements EgressHandler {
  readonly #deps: ProbeDeps;
  readonly #done: (result: ProbeResult) => void;
  readonly #startMs: number;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #connectMs: number | null = null;
  #status = 0;
  #over = false;

  constructor(deps: ProbeDeps, done: (result: ProbeResult) => void) {
    this.#deps = deps;
    this.#done = done;
    this.#startMs = deps.clock.monotonicMs();
  }

  onRequestStart(): void {
    this.#connectMs = this.#elapsedMs();
  }

  onResponseStart(_controller: EgressController, status: number): void {
    if (status >= 200) this.#status = status;
  }

  onResponseData(controller: EgressController, chunk: Buffer): void {
    if (this.#over) return;
    this.#bytes += chunk.length;
    if (this.#bytes <= this.#deps.responseBytesMax) {
      this.#chunks.push(chunk);
      return;
    }
    this.#answer(false);
    controller.abort(new Error('the answer is larger than a test reads'));
  }

  onResponseEnd(): void {
    this.#answer(true);
  }

  onResponseError(_controller: EgressController, error: Error): void {
    this.fail(failureReasonOf(error, this.#connectMs !== null));
  }

  fail(reason: FailureReason): void {
    this.#end({ kind: 'failed', reason, connectMs: this.#connectMs, waitedMs: this.#elapsedMs() });
  }

  #answer(complete: boolean): void {
    const connectMs = this.#connectMs ?? 0;
    this.#end({
      kind: 'answered',
      status: this.#status,
      body: Buffer.concat(this.#chunks),
      complete,
      connectMs,
      respondMs: this.#elapsedMs() - connectMs,
    });
  }

  #end(result: ProbeResult): void {
    if (this.#over) return;
    this.#over = true;
    this.#done(result);
  }

  #elapsedMs(): number {
    return Math.round(this.#deps.clock.monotonicMs() - this.#startMs);
  }
}
