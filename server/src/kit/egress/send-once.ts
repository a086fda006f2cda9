import type { Clock } from '../clock.ts';
import type { Egress, EgressController, EgressHandler, EgressOwner, EgressRequest } from './egress.ts';
import { type FailureReason, failureReasonOf } from './failure-reason.ts';

export interface SendOnceDeps {
  readonly egress: Pick<Egress, 'dispatch'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly responseBytesMax: number;
  /** Ends the request with `timed_out`. */
  readonly deadline: AbortSignal;
}

export type OnceResult = Answered | Failed;

export interface Answered {
  readonly kind: 'answered';
  readonly status: number;
  readonly body: Buffer;
  /** False when the response was larger than `responseBytesMax`. */
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

/** One request with a small answer, read as a whole. Never throws: every failure is a result. */
export function sendOnce(
  deps: SendOnceDeps,
  origin: string,
  request: EgressRequest,
  owner: EgressOwner,
): Promise<OnceResult> {
  const { egress, deadline } = deps;
  return new Promise((resolve) => {
    const once = new Once(deps, (result) => {
      deadline.removeEventListener('abort', expire);
      resolve(result);
    });
    const expire = () => once.fail('timed_out');
    deadline.addEventListener('abort', expire);
    if (deadline.aborted) expire();
    else egress.dispatch(origin, request, once, owner);
  });
}

class Once implements EgressHandler {
  readonly #deps: SendOnceDeps;
  readonly #done: (result: OnceResult) => void;
  readonly #startMs: number;
  readonly #chunks: Buffer[] = [];
  #controller: EgressController | null = null;
  #bytes = 0;
  #connectMs: number | null = null;
  #status = 0;
  #over = false;

  constructor(deps: SendOnceDeps, done: (result: OnceResult) => void) {
    this.#deps = deps;
    this.#done = done;
    this.#startMs = deps.clock.monotonicMs();
  }

  onRequestStart(controller: EgressController): void {
    this.#connectMs = this.#elapsedMs();
    this.#controller = controller;
    if (this.#over) this.#abort();
  }

  onResponseStart(_controller: EgressController, status: number): void {
    if (status >= 200) this.#status = status;
  }

  onResponseData(_controller: EgressController, chunk: Buffer): void {
    if (this.#over) return;
    this.#bytes += chunk.length;
    if (this.#bytes <= this.#deps.responseBytesMax) {
      this.#chunks.push(chunk);
      return;
    }
    this.#answer(false);
    this.#abort();
  }

  onResponseEnd(): void {
    this.#answer(true);
  }

  onResponseError(_controller: EgressController, error: Error): void {
    this.fail(failureReasonOf(error, this.#connectMs !== null));
  }

  fail(reason: FailureReason): void {
    if (this.#over) return;
    this.#end({ kind: 'failed', reason, connectMs: this.#connectMs, waitedMs: this.#elapsedMs() });
    this.#abort();
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

  #end(result: OnceResult): void {
    if (this.#over) return;
    this.#over = true;
    this.#done(result);
  }

  #abort(): void {
    this.#controller?.abort(new Error('the request is over'));
  }

  #elapsedMs(): number {
    return Math.round(this.#deps.clock.monotonicMs() - this.#startMs);
  }
}
