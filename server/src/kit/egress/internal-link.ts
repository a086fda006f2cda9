import { buildConnector, type Dispatcher, Pool } from 'undici';

/** What a connection reads ahead while its reader is held back, besides the read under way; undici's default is 64 KiB. */
const SOCKET_BYTES_MAX = 16 * 1024;

export interface InternalLinkOptions {
  /** The other service, as the operator has configured it. */
  readonly origin: string;
  readonly connectTimeoutMs: number;
  /** Requests under way at once; each holds a connection. More are refused, because a queue would have no end. */
  readonly requestsMax: number;
  /** From sending a request to the head of its answer, and the longest silence after it. */
  readonly headTimeoutMs: number;
  readonly idleTimeoutMs: number;
}

export interface LinkRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: string[];
  readonly body: Buffer | null;
}

/** What an answer is fed to, event by event. It hears one end, `onEnd` or `onFailure`, unless it was stopped. */
export interface LinkAnswer {
  /** Names and values in turn, as they came. */
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
 * Requests to another service of the same deployment, over connections that are kept. The address is the operator's
 * and fixed, so it is not vetted as the addresses of providers are. Nothing is sent twice.
 */
export interface InternalLink {
  /** Answers the way to stop: the connection is cut, and the answer hears nothing more. */
  send(request: LinkRequest, answer: LinkAnswer): () => void;
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
  let underWay = 0;
  return {
    send(request, answer) {
      if (underWay >= options.requestsMax) {
        answer.onFailure(`${underWay} requests are under way, and more may not be`);
        return () => undefined;
      }
      underWay += 1;
      const call = new LinkCall(answer, () => {
        underWay -= 1;
      });
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

  /** Idempotent. Before a connection was found there is nothing to abort yet; it is then aborted when found. */
  stop(): void {
    this.#stopped = true;
    this.#controller?.abort(new LinkStoppedError());
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#stopped) controller.abort(new LinkStoppedError());
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    // Informational responses precede the real one and concern the connection only.
    if (this.#stopped || status < 200) return;
    const headers = textOf(controller.rawHeaders);
    // Its pieces would hold on to the whole first read for as long as a stream lasts.
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

  /** False when there is nobody to tell. undici tells of an error after the end when the end itself failed. */
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
