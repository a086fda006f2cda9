import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ErrorCode, headers } from '@relay/contract';
import type { Caller } from '../domain/caller.ts';
import { RelayError } from '../domain/relay-error.ts';
import type { OrganizationSnapshot } from '../domain/snapshot.ts';
import { requestIdHeaders } from '../http/error-response.ts';
import { inferenceRouteOf, isProtocol, type ModelsRoute } from '../http/inference-route.ts';
import type { RequestHandler } from '../http/listener.ts';
import type { OpenWork, Stoppable } from '../http/open-work.ts';
import { refuseRequest } from '../http/refuse-request.ts';
import { scopeRefusal } from '../http/scope-refusal.ts';
import type { Tracer } from '../kit/tracing/tracer.ts';
import { createHardHolds } from './admit/hard-holds.ts';
import { type Exchange, stopExchange } from './exchange.ts';
import { modelList, modelOf } from './model-list.ts';
import { type PipelineDeps, serveExchange } from './pipeline.ts';

export interface InferenceDeps extends Omit<PipelineDeps, 'holds'> {
  readonly open: OpenWork;
  /** Null while tracing is off. */
  readonly tracer: Tracer | null;
  /** Called with the code of a request that is refused before it becomes an exchange, for metrics. */
  readonly onRefused?: (code: ErrorCode) => void;
  /** The organization's configuration; throws 503 when it was never loaded and cannot be loaded now. */
  readonly snapshotOf: (organizationId: string) => OrganizationSnapshot | Promise<OrganizationSnapshot>;
}

const CLIENT_REQUEST_ID_CHARACTERS_MAX = 200;

/**
 * Everything below `/v1/`. Answers 401, 403, 404 and 405 itself, then passes authenticated and permitted requests to the
 * pipeline.
 */
export function createInferenceHandler(given: InferenceDeps): RequestHandler {
  const deps = { ...given, holds: createHardHolds() };
  return (request, response, requestId) => {
    const startMs = deps.clock.monotonicMs();
    open(deps, request, response, requestId, startMs).catch((error: unknown) => {
      refuse(deps, request, response, requestId, startMs, error);
    });
  };
}

async function open(
  deps: InferenceDeps & PipelineDeps,
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string,
  startMs: number,
): Promise<void> {
  const route = inferenceRouteOf(request);
  const authenticated = deps.authenticate(request);
  const caller: Caller = authenticated instanceof Promise ? await authenticated : authenticated;
  if (!caller.scopes.has('relay:request')) throw scopeRefusal(caller, ['relay:request']);
  const found = deps.snapshotOf(caller.organizationId);
  const snapshot = found instanceof Promise ? await found : found;

  if (!isProtocol(route)) {
    sendModels(deps, route, response, requestId, startMs, snapshot);
    return;
  }
  const exchange: Exchange = {
    requestId,
    clientRequestId: clientRequestId(request),
    request,
    response,
    protocol: route,
    caller,
    snapshot,
    arrivedAtMs: deps.clock.nowMs(),
    startMs,
    // After authentication: a client without a valid key must not be able to have requests traced.
    trace: deps.tracer?.begin(request.headers) ?? null,
    model: null,
    streaming: false,
    asked: null,
    route: null,
    guard: { snapshot, shown: null, verdicts: [], tookMs: null },
    marks: { receivedMs: null, routedMs: null, admitMs: null, upstreamFirstByteMs: null },
    decisions: { bound: null, awaited: null, refused: null, skipped: [], probed: null },
    attempts: [],
    presetSlug: null,
    reservation: null,
    reportedUsage: null,
    waitMs: 0,
    rateWindows: [],
    upstreamMs: 0,
    // A client that disconnected while its key was looked up emits no further event.
    stopped: response.destroyed ? 'client_gone' : null,
    inCharge: null,
  };
  const nowMs = deps.clock.monotonicMs();
  exchange.trace?.step({ name: 'authenticate', startMs, endMs: nowMs });
  response.once('close', () => {
    if (!response.writableFinished) stopExchange(exchange, 'client_gone');
  });
  const work: Stoppable = { stop: (error) => stopExchange(exchange, error) };
  deps.open.add(work);
  try {
    await serveExchange(deps, exchange);
  } finally {
    deps.open.delete(work);
  }
}

function sendModels(
  deps: InferenceDeps,
  { modelId, query, protocol }: ModelsRoute,
  response: ServerResponse,
  requestId: string,
  startMs: number,
  snapshot: OrganizationSnapshot,
): void {
  const { models, family } = protocol;
  const said =
    modelId === null
      ? models.list(modelList(snapshot, family), query)
      : models.one(modelOf(snapshot, family, modelId));
  const body = JSON.stringify(said);
  response.writeHead(200, {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    [headers.requestId]: requestId,
    ...requestIdHeaders(protocol, requestId),
    [headers.overheadMs]: (deps.clock.monotonicMs() - startMs).toFixed(2),
  });
  response.end(body);
}

function refuse(
  deps: InferenceDeps,
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string,
  startMs: number,
  error: unknown,
): void {
  if (!(error instanceof RelayError)) deps.log.error({ err: error, request_id: requestId }, 'defect');
  deps.onRefused?.(error instanceof RelayError ? error.code : 'internal_error');
  const overheadMs = (deps.clock.monotonicMs() - startMs).toFixed(2);
  const context = { requestId, publicUrl: deps.publicUrl };
  refuseRequest(request, response, error, context, { [headers.overheadMs]: overheadMs });
}

function clientRequestId(request: IncomingMessage): string | null {
  const value = request.headers['x-request-id'];
  if (typeof value !== 'string' || value === '') return null;
  return value.slice(0, CLIENT_REQUEST_ID_CHARACTERS_MAX);
}
