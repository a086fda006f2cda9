import { randomUUIDv7 } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Dispatcher, Pool } from 'undici';
import { type AdmissionCalls, createAdmissionCalls } from '../limits/admission-calls.ts';

/** Puts the upstream model into a request body. Engines differ only in how they do this. */
export type Rewrite = (body: Buffer, upstreamModel: string) => Buffer;

/** This checkout, whose calls are made. */
const ROOT = join(import.meta.dirname, '../../..');
const CONNECTION_HEADERS = new Set(['connection', 'keep-alive', 'transfer-encoding']);

/**
 * The least a gateway on this platform can do: take a request, put the model in, send it on, pass the answer
 * back. No keys, no routes, no limits, no metering. Started as `node FILE --port N --upstream URL --model NAME`.
 * With `--redis URL` it makes the two calls of a request under limits as well, and looks no further at their answers.
 */
export async function runEngine(rewrite: Rewrite): Promise<void> {
  const { values } = parseArgs({
    options: {
      port: { type: 'string' },
      upstream: { type: 'string' },
      model: { type: 'string', default: 'upstream-model' },
      redis: { type: 'string' },
    },
  });
  if (values.port === undefined || values.upstream === undefined)
    throw new Error('--port N and --upstream URL are required');
  const { origin, pathname } = new URL(values.upstream);
  const pathPrefix = pathname.replace(/\/+$/, '');
  const pool = new Pool(origin, {
    connections: 4_096,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    allowH2: false,
  });
  const model = values.model;
  const calls = values.redis === undefined ? null : await createAdmissionCalls(ROOT, values.redis, 1);
  const server = createServer({ noDelay: true }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const only = chunks.length === 1 ? chunks[0] : undefined;
      const body = rewrite(only ?? Buffer.concat(chunks), model);
      const path = pathPrefix + (request.url ?? '').replace(/^\/v1/, '');
      if (calls === null) relay(pool, path, request, new PassOn(response), body);
      else relayWithCalls(calls, pool, path, request, response, body);
    });
  });
  server.keepAliveTimeout = 75_000;
  server.listen(Number(values.port), '127.0.0.1');
  // Exits normally, so that a profiler can write its profile.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(0));
}

function relay(pool: Pool, path: string, request: IncomingMessage, handler: PassOn, body: Buffer): void {
  const headers = ['content-type', 'application/json'];
  const { authorization } = request.headers;
  if (authorization !== undefined) headers.push('authorization', authorization);
  pool.dispatch({ method: 'POST', path, headers, body }, handler);
}

/** A failed call ends the process and the run, because figures of half the work mean nothing. */
function relayWithCalls(
  calls: AdmissionCalls,
  pool: Pool,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
): void {
  const operationId = randomUUIDv7();
  const settle = () => void calls.settle(operationId);
  void calls.admit(operationId).then(() => relay(pool, path, request, new PassOn(response, settle), body));
}

class PassOn implements Dispatcher.DispatchHandler {
  readonly #response: ServerResponse;
  readonly #ended: (() => void) | undefined;
  #controller: Dispatcher.DispatchController | null = null;
  #over = false;

  constructor(response: ServerResponse, ended?: () => void) {
    this.#response = response;
    this.#ended = ended;
    // A disconnected client never drains; without this the paused upstream connection would leak.
    response.once('close', () => {
      if (!this.#over) this.#controller?.abort(new Error('the client left'));
    });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#response.destroyed) controller.abort(new Error('the client left'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    const list: string[] = [];
    for (const name in headers) {
      const value = headers[name];
      if (typeof value === 'string' && !CONNECTION_HEADERS.has(name)) list.push(name, value);
    }
    this.#response.writeHead(status, list);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#response.write(chunk)) return;
    controller.pause();
    this.#response.once('drain', () => controller.resume());
  }

  onResponseEnd(): void {
    this.#over = true;
    this.#response.end();
    this.#ended?.();
  }

  onResponseError(): void {
    this.#over = true;
    if (!this.#response.headersSent) this.#response.writeHead(502).end();
    else this.#response.destroy();
  }
}
