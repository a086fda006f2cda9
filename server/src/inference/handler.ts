import type { IncomingMessage, ServerResponse } from 'node:http';
import { headers } from '@relay/contract';
import type { Caller } from '../domain/caller.ts';
import type { Operation } from '../domain/operation.ts';
import { RelayError } from '../domain/relay-error.ts';
import type { OrganizationSnapshot } from '../domain/snapshot.ts';
import type { Authenticate } from '../http/authenticate.ts';
import { endUnread } from '../http/end-unread.ts';
import { errorResponse } from '../http/error-response.ts';
import type { RequestHandler } from '../http/listener.ts';
import type { Exchange } from './exchange.ts';
import { modelList } from './model-list.ts';
import { type PipelineDeps, serveExchange } from './pipeline.ts';

export interface InferenceDeps extends PipelineDeps {
  readonly authenticate: Authenticate;
  /** The organization's configuration; throws 503 when it was never read and cannot be. */
  readonly snapshotOf: (organizationId: string) => OrganizationSnapshot | Promise<OrganizationSnapshot>;
}

const OPERATIONS = new Map<string, Operation>([
  ['/v1/chat/completions', 'chat'],
  ['/v1/responses', 'responses'],
  ['/v1/embeddings', 'embeddings'],
]);
const CLIENT_REQUEST_ID_CHARACTERS_MAX = 200;

/**
 * Everything below `/v1/`. Answers 401, 403, 404 and 405 itself, then hands inference requests to the
 * pipeline: whoever gets there is known and allowed.
 */
export function createInferenceHandler(deps: InferenceDeps): RequestHandler {
  return (request, response, requestId) => {
    const startMs = deps.clock.monotonicMs();
    open(deps, request, response, requestId, startMs).catch((error: unknown) => {
      refuse(deps, request, response, requestId, startMs, error);
    });
  };
}

async function open(
  deps: InferenceDeps,
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string,
  startMs: number,
): Promise<void> {
  const path = pathOf(request.url ?? '');
  const operation = OPERATIONS.get(path);
  if (operation === undefined && path !== '/v1/models') throw new RelayError('route_not_found');
  const allowed = operation === undefined ? 'GET' : 'POST';
  if (request.method !== allowed) throw new RelayError('method_not_allowed', { headers: { allow: allowed } });

  const authenticated = deps.authenticate(request.headers.authorization);
  const caller: Caller = authenticated instanceof Promise ? await authenticated : authenticated;
  if (!caller.scopes.has('relay:request')) throw missingScope();
  const found = deps.snapshotOf(caller.organizationId);
  const snapshot = found instanceof Promise ? await found : found;

  if (operation === undefined) {
    sendModels(deps, request, response, requestId, startMs, snapshot);
    return;
  }
  const exchange: Exchange = {
    requestId,
    clientRequestId: clientRequestId(request),
    request,
    response,
    operation,
    caller,
    snapshot,
    arrivedAtMs: deps.clock.nowMs(),
    startMs,
    attempts: [],
    waitMs: 0,
    rateWindows: [],
    upstreamMs: 0,
    clientGone: false,
    inCharge: null,
  };
  response.once('close', () => {
    if (response.writableFinished) return;
    exchange.clientGone = true;
    exchange.inCharge?.clientLeft();
  });
  await serveExchange(deps, exchange);
}

function sendModels(
  deps: InferenceDeps,
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string,
  startMs: number,
  snapshot: OrganizationSnapshot,
): void {
  const query = new URLSearchParams(request.url?.split('?', 2)[1]);
  const body = JSON.stringify(modelList(snapshot, query.get('include') === 'lanes'));
  response.writeHead(200, {
    'content-type': 'application/json',
    [headers.requestId]: requestId,
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
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { status, headers: list, body } = errorResponse(error, { requestId, publicUrl: deps.publicUrl });
  list[headers.overheadMs] = (deps.clock.monotonicMs() - startMs).toFixed(2);
  list['content-length'] = String(Buffer.byteLength(body));
  // Reading on only to throw the body away would let strangers keep connections busy.
  if (!request.complete) list['connection'] = 'close';
  response.writeHead(status, list);
  endUnread(request, response, body);
}

function pathOf(url: string): string {
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}

function clientRequestId(request: IncomingMessage): string | null {
  const value = request.headers['x-request-id'];
  if (typeof value !== 'string' || value === '') return null;
  return value.slice(0, CLIENT_REQUEST_ID_CHARACTERS_MAX);
}

function missingScope(): RelayError {
  return new RelayError('insufficient_scope', {
    message: 'This key lacks the scope relay:request, which inference needs. Create a key that has it.',
    fields: { required_scope: 'relay:request' },
  });
}
