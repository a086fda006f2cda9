import { buildConnector, type Dispatcher, Pool } from 'undici';
import { createShares } from '../shares.ts';

/** What a paused connection reads ahead, besides a read in progress; undici's default is 64 KiB. */
const SOCKET_BYTES_MAX = 16 * 1024;

export interface InternalLinkOptions {
  /** The other service, as configured by the operator. */
  readonly origin: string;
  readonly connectTimeoutMs: number;
  /**
   * The maximum of concurrent requests; each holds a connection, and each owner has a share of them. Further requests are rejected, because a
   * queue would be unbounded.
   */
  readonly requestsMax: number;
  /** From sending a request to the head of its answer, and the longest silence after it. */
  readonly headTimeoutMs: number;
  readonly idleTimeoutMs: number;
}

export interface LinkRequest {
  readonly method: 'GET' | 'HEAD' | 'POST';
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: string[];
  readonly body: Buffer | null;
}

/** Receives an answer, event by event. It gets one end, `onEnd` or `onFailure`, unless it was stopped. */
export interface LinkAnswer {
  /** Names and values in turn, unchanged. */
  onHead(status: number, headers: string[], flow: LinkFlow): void;
  onData(chunk: Buffer): void;
  onEnd(): void;
  onFailure(reason: string): void;
}

export interface LinkFlow {
  pause(): void;
  resume(): void;
}

/**
 * Requests to another service of the same deployment, over persistent connections. The operator sets the address, so it is not
 * checked as the addresses of providers are. No request is sent twice.
 */
export interface InternalLink {
  /** Returns a function that stops the request: the connection is closed, and the answer gets no further event. */
  send(request: LinkRequest, answer: LinkAnswer, owner: string): () => void;
  close(): Promise<void>;
}

export function createInternalLink(options: InternalLinkOptions): InternalLink {
  const socketOptions = {
    timeout: options.connectTimeoutMs,
    allowH2: false,
    highWaterMark: SOCKET_BYTES_MAX,
  };
  const pool = new Pool(options.origin, {
    connect: buildConnector(socketOptions),
    connections: options.requestsMax,
    pipelining: 1,
    headersTimeout: options.headTimeoutMs,
    bodyTimeout: options.idleTimeoutMs,
    allowH2: false,
  });
  const shares = createShares(options.requestsMax);
  return {
    send(request, answer, owner) {
      const giveBack = shares.tryTake(owner);
      if (giveBack === null) {
        answer.onFailure(`the owner’s share of the ${options.requestsMax} concurrent requests is in use`);
        return () => undefined;
      }
      const call = new LinkCall(answer, giveBack);
      pool.dispatch(request, call);
      return () => call.stop();
    },
    close: () => pool.destroy(),
  };
}

class LinkStoppedError extends Error {}

class LinkCall implements Dispatcher.DispatchHandler {
  readonly #answer: LinkAnswer;
  readonly #left: () => void;
  #controller: Dispatcher.DispatchController | null = null;
  #stopped = false;
  #ended = false;

  constructor(answer: LinkAnswer, left: () => void) {
    this.#answer = answer;
    this.#left = left;
  }

  /** Idempotent. A request without a connection is aborted when it gets one. */
  stop(): void {
    this.#stopped = true;
    this.#controller?.abort(new LinkStoppedError());
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#stopped) controller.abort(new LinkStoppedError());
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    // Informational responses concern the connection only.
    if (this.#stopped || status < 200) return;
    const headers = textOf(controller.rawHeaders);
    // Its slices would retain the first read for as long as a stream lasts.
    controller.rawHeaders = null;
    this.#answer.onHead(status, headers, controller);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#stopped) this.#answer.onData(chunk);
  }

  onResponseEnd(): void {
    if (this.#end()) this.#answer.onEnd();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#end()) this.#answer.onFailure(error.message);
  }

  /** False when the answer has ended. undici reports an error after the end when the end itself failed. */
  #end(): boolean {
    if (this.#ended) return false;
    this.#ended = true;
    this.#left();
    return !this.#stopped;
  }
}

function textOf(raw: Dispatcher.DispatchController['rawHeaders']): string[] {
  return Array.isArray(raw)
    ? raw.map((each) => (typeof each === 'string' ? each : each.toString('latin1')))
    : [];
}
