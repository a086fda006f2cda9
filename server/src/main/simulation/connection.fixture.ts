import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** How a client's request ended, as the client sees it. */
export interface ClientEnd {
  readonly how: 'answered' | 'cut' | 'left' | 'reset';
  readonly status: number | null;
  readonly retryAfterMs: number | null;
}

/** One request and its response between a client and a gateway, without a network in between. */
export interface Connection {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Sends the body. */
  send(): void;
  /** The client goes away. */
  leave(): void;
  /** The gateway died. */
  reset(): void;
  /** Null while it is open. */
  ended(): ClientEnd | null;
  /** What a server must never do, such as answer twice. */
  readonly faults: string[];
}

export function openConnection(requestId: string, body: object): Connection {
  const bytes = Buffer.from(JSON.stringify(body));
  const request = Object.assign(new EventEmitter(), {
    method: 'POST',
    url: '/v1/chat/completions',
    headers: { 'user-agent': requestId, 'content-length': String(bytes.length) },
    httpVersion: '1.1',
    complete: false,
    destroyed: false,
    pause: () => undefined,
    resume: () => undefined,
  });
  const response = new SimResponse();
  return {
    request: request as unknown as IncomingMessage,
    response: response as unknown as ServerResponse,
    faults: response.faults,
    send() {
      request.emit('data', bytes);
      request.complete = true;
      request.emit('end');
    },
    leave() {
      if (!response.finish('left')) return;
      request.destroyed = true;
      response.destroyed = true;
      request.emit('close');
      response.emit('close');
    },
    reset: () => void response.finish('reset'),
    ended: () => response.end_,
  };
}

/** As much of a response as the data plane uses. */
class SimResponse extends EventEmitter {
  headersSent = false;
  chunkedEncoding = true;
  destroyed = false;
  writableFinished = false;
  end_: ClientEnd | null = null;
  readonly faults: string[] = [];
  #status: number | null = null;
  #retryAfterMs: number | null = null;

  writeHead(status: number, headers: Record<string, string> | string[]): this {
    if (this.headersSent) this.faults.push('two heads');
    this.headersSent = true;
    this.#status = status;
    const list = Array.isArray(headers) ? headers : Object.entries(headers).flat();
    const at = list.indexOf('retry-after-ms');
    this.#retryAfterMs = at < 0 ? null : Number(list[at + 1]);
    return this;
  }

  write(): boolean {
    if (this.writableFinished) this.faults.push('a write after the end');
    return true;
  }

  end(): this {
    if (this.writableFinished) this.faults.push('two ends');
    if (!this.headersSent) this.faults.push('an end without a head');
    this.writableFinished = true;
    if (this.finish('answered')) queueMicrotask(() => this.emit('close'));
    return this;
  }

  destroy(): this {
    this.destroyed = true;
    if (this.finish('cut')) queueMicrotask(() => this.emit('close'));
    return this;
  }

  /** False when it had ended before. */
  finish(how: ClientEnd['how']): boolean {
    if (this.end_ !== null) return false;
    this.end_ = { how, status: this.#status, retryAfterMs: this.#retryAfterMs };
    return true;
  }
}
