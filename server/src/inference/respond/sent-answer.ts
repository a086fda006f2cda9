import type { ServerResponse } from 'node:http';
import type { Exchange, Flow, UpstreamHead } from '../exchange.ts';
import { BodyWriter } from './body-writer.ts';
import type { ReplyDeps } from './reply-deps.ts';

/** Sends an answer to the client, first its head and then its body, and pauses the provider while the client reads slowly. */
export class SentAnswer {
  /** Monotonic time of the head; null until it was written. */
  beganMs: number | null = null;
  readonly #deps: Pick<ReplyDeps, 'clock' | 'headersFor'>;
  readonly #exchange: Exchange;
  readonly #response: ServerResponse;
  readonly #requestedMs: number;
  #flow: Flow | null = null;
  #body: BodyWriter | null = null;
  #awaitingDrain = false;
  #holds = 0;

  constructor({ exchange, clock, headersFor }: ReplyDeps) {
    this.#deps = { clock, headersFor };
    this.#exchange = exchange;
    this.#response = exchange.response;
    this.#requestedMs = clock.monotonicMs();
  }

  set flow(flow: Flow) {
    this.#flow = flow;
  }

  abortUpstream(): void {
    this.#flow?.abort();
  }

  /** Writes the head, once. */
  begin(head: UpstreamHead): BodyWriter {
    if (this.#body !== null) return this.#body;
    this.beganMs = this.#deps.clock.monotonicMs();
    this.#exchange.upstreamMs += this.beganMs - this.#requestedMs;
    this.#response.writeHead(head.status, this.#deps.headersFor(head));
    this.#body = new BodyWriter(this.#response);
    return this.#body;
  }

  write(head: UpstreamHead, bytes: Buffer): void {
    const body = this.#body ?? this.begin(head);
    if (body.write(bytes) || this.#awaitingDrain) return;
    this.#awaitingDrain = true;
    this.hold();
    this.#response.once('drain', () => {
      this.#awaitingDrain = false;
      this.letGo();
    });
  }

  /** Breaks the connection: a body with an announced length or encoding cannot be completed. */
  breakOff(): void {
    this.#response.destroy();
  }

  /** The provider waits while the client reads slowly, and while a copy has much to decode. */
  hold(): void {
    this.#holds += 1;
    if (this.#holds === 1) this.#flow?.pause();
  }

  letGo(): void {
    this.#holds -= 1;
    if (this.#holds === 0) this.#flow?.resume();
  }

  /** The answer is over. Without a head, all of the time was spent waiting for the provider. */
  end(): void {
    if (this.beganMs === null)
      this.#exchange.upstreamMs += this.#deps.clock.monotonicMs() - this.#requestedMs;
  }
}
