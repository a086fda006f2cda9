import type { ServerResponse } from 'node:http';
import { headers as names } from '@relay/contract';
import type { RelayError } from '../domain/relay-error.ts';
import type { Stoppable } from '../http/open-work.ts';
import type { LinkAnswer, LinkFlow } from '../kit/egress/index.ts';
import { answerHeaders } from './forwarded-headers.ts';

export interface ForwardedAnswerDeps {
  readonly response: ServerResponse;
  /** Called at most once, and only before anything was sent to the client. */
  readonly unanswered: (reason: string) => void;
  /** Answers with this error, or breaks off an answer that has started. */
  readonly refuse: (error: RelayError) => void;
}

/** Streams inference's response to the client unchanged, no faster than the client reads. */
export class ForwardedAnswer implements LinkAnswer, Stoppable {
  /** Set once the request is sent. */
  stopRequest: (() => void) | null = null;
  readonly #deps: ForwardedAnswerDeps;
  readonly #response: ServerResponse;
  #flow: LinkFlow | null = null;
  #awaitingDrain = false;
  #over = false;

  constructor(deps: ForwardedAnswerDeps) {
    this.#deps = deps;
    this.#response = deps.response;
  }

  /** The client disconnected: abort inference, which aborts the provider. */
  clientLeft(): void {
    this.#over = true;
    this.stopRequest?.();
  }

  /** What inference has sent so far is opaque here, so an answer that has started ends with its connection. */
  stop(error: RelayError): void {
    if (this.#over) return;
    this.clientLeft();
    this.#deps.refuse(error);
  }

  onHead(status: number, headers: string[], flow: LinkFlow): void {
    if (this.#over) return;
    if (status === 401 && isOfRelay(headers)) {
      // The client is authenticated here. When inference rejects the platform, the operator must fix it; a 401 would tell
      // the client that its key is bad.
      this.#over = true;
      this.stopRequest?.();
      this.#deps.unanswered('the inference service rejected the signed context; its log has the reason');
      return;
    }
    this.#flow = flow;
    this.#response.writeHead(status, answerHeaders(headers));
  }

  onData(chunk: Buffer): void {
    if (this.#over || this.#response.write(chunk) || this.#awaitingDrain) return;
    this.#awaitingDrain = true;
    this.#flow?.pause();
    this.#response.once('drain', () => {
      this.#awaitingDrain = false;
      this.#flow?.resume();
    });
  }

  onEnd(): void {
    if (this.#over) return;
    this.#over = true;
    this.#response.end();
  }

  onFailure(reason: string): void {
    if (this.#over) return;
    this.#over = true;
    // A partial response cannot be repaired: the client must see the connection break.
    if (this.#response.headersSent) this.#response.destroy();
    else this.#deps.unanswered(reason);
  }
}

function isOfRelay(headers: readonly string[]): boolean {
  for (let index = 0; index < headers.length; index += 2) {
    if (headers[index]?.toLowerCase() === names.errorSource) return headers[index + 1] === 'relay';
  }
  return false;
}
