import type { GuardrailCause } from '../domain/guardrails/verdict.ts';
import type { Egress, EgressController, EgressHandler, EgressRequest } from '../kit/egress/index.ts';

export interface Received {
  /** Why the answer does not count; null when it is complete and has a 2xx status. */
  readonly cause: GuardrailCause | null;
  /** 0 when there was no answer. */
  readonly status: number;
  /** As far as it was read. */
  readonly body: Buffer;
}

export interface ReceiveLimits {
  /** From the call to the last byte. A guardrail that sends slowly gets no extra time. */
  readonly withinMs: number;
  readonly bytesMax: number;
}

/** Sends a request and reads the answer within its limits. Never throws: every failure is a result. */
export function receiveAnswer(
  egress: Pick<Egress, 'dispatch'>,
  origin: string,
  request: EgressRequest,
  owner: string,
  limits: ReceiveLimits,
): Promise<Received> {
  return new Promise((resolve) => {
    const reader = new AnswerReader(limits, resolve);
    try {
      egress.dispatch(origin, request, reader, owner);
    } catch {
      // Thrown for a header that cannot be sent, such as a credential with a line break.
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
    // The deadline passed before there was a connection.
    if (this.#over) controller.abort(new Error('the call has already ended'));
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
    // A failed status stays one whatever happened to its body. A timeout comes first, because the operator can change it.
    const told = refused && cause !== 'timeout' ? 'bad_status' : cause;
    this.#done({ cause: told, status: this.#status, body: Buffer.concat(this.#chunks) });
  }

  #cut(cause: GuardrailCause): void {
    this.end(cause);
    this.#controller?.abort(new Error('the guardrail exceeded its time or size limit'));
  }
}
