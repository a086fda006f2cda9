import type { GuardrailCause } from '../domain/guardrails/verdict.ts';
import type { Egress, EgressController, EgressHandler, EgressRequest } from '../kit/egress/index.ts';

export interface Received {
  /** Why the answer does not count; null when it is a whole one with a status of success. */
  readonly cause: GuardrailCause | null;
  /** 0 when nothing was answered. */
  readonly status: number;
  /** As far as it was read. */
  readonly body: Buffer;
}

export interface ReceiveLimits {
  /** From here to the last byte: a guardrail that drips its answer does not get more time for it. */
  readonly withinMs: number;
  readonly bytesMax: number;
}

/** Sends a request and reads the answer within its limits. Never fails: whatever goes wrong is the result. */
export function receiveAnswer(
  egress: Pick<Egress, 'dispatch'>,
  origin: string,
  request: EgressRequest,
  limits: ReceiveLimits,
): Promise<Received> {
  return new Promise((resolve) => {
    const reader = new AnswerReader(limits, resolve);
    try {
      egress.dispatch(origin, request, reader);
    } catch {
      // A header that cannot be sent, for one: a credential with a line break in it.
      reader.end('unreachable');
    }
  });
}

class AnswerReader implements EgressHandler {
  readonly #bytesMax: number;
  readonly #done: (received: Received) => void;
  readonly #timer: NodeJS.Timeout;
  readonly #chunks: Buffer[] = [];
  #controller: EgressController | null = null;
  #bytes = 0;
  #status = 0;
  #over = false;

  constructor({ withinMs, bytesMax }: ReceiveLimits, done: (received: Received) => void) {
    this.#bytesMax = bytesMax;
    this.#done = done;
    this.#timer = setTimeout(() => this.#cut('timeout'), Math.max(1, Math.ceil(withinMs)));
  }

  onRequestStart(controller: EgressController): void {
    this.#controller = controller;
    // The time ran out while there was no connection; one that was found is not used.
    if (this.#over) controller.abort(new Error('nobody waits for this answer any more'));
  }

  onResponseStart(_controller: EgressController, status: number): void {
    if (status >= 200) this.#status = status;
  }

  onResponseData(_controller: EgressController, chunk: Buffer): void {
    if (this.#over) return;
    this.#bytes += chunk.length;
    if (this.#bytes > this.#bytesMax) this.#cut('too_large');
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.end(null);
  }

  onResponseError(): void {
    this.end(this.#status === 0 ? 'unreachable' : 'malformed');
  }

  end(cause: GuardrailCause | null): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#timer);
    const refused = this.#status !== 0 && (this.#status < 200 || this.#status >= 300);
    // An error is one however its body came; how long it took is said first, for that is what can be set.
    const told = refused && cause !== 'timeout' ? 'bad_status' : cause;
    this.#done({ cause: told, status: this.#status, body: Buffer.concat(this.#chunks) });
  }

  #cut(cause: GuardrailCause): void {
    this.end(cause);
    this.#controller?.abort(new Error('the guardrail went past its limits'));
  }
}
