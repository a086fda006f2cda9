import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  allRoutes,
  coerceQuery,
  compileValidator,
  headers,
  type Issue,
  queryIssues,
  type Route,
  type RouteId,
  scopesOf,
  scopesSatisfy,
  showsSecret,
} from '@relay/contract';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Caller } from '../domain/caller.ts';
import { RelayError } from '../domain/relay-error.ts';
import type { Log } from '../kit/log.ts';
import { type AnswerStream, isStreamed, openAnswerStream } from './answer-stream.ts';
import type { Authenticate } from './authenticate.ts';
import type { AnyCall, AnyHandler, Handlers, StreamedAnswer } from './call.ts';
import { asDocument, wantsJson } from './error-document.ts';
import { errorResponse } from './error-response.ts';
import { asRelayError } from './framework-error.ts';
import type { RequestHandler } from './listener.ts';
import { mountReferencePages } from './reference-pages.ts';
import { scopeRefusal } from './scope-refusal.ts';

export interface ManagementAppDeps {
  /** Null in a process without the management role, which then has no management routes. */
  readonly handlers: Handlers | null;
  readonly authenticate: Authenticate;
  readonly bodyBytesMax: number;
  readonly publicUrl: string;
  readonly log: Log;
  /** True once the process is stopping. */
  readonly draining: () => boolean;
  /** How often the access of a stream's caller is checked again; 15 s by default. */
  readonly streamAccessCheckMs?: number;
}

const STREAM_ACCESS_CHECK_MS = 15_000;

const ANONYMOUS: Caller = {
  organizationId: '',
  userId: '',
  keyId: null,
  sessionId: null,
  kind: 'session',
  scopes: new Set(),
  access: { granted: null, permissions: new Set(), plan: 'closed' },
  keyPolicies: [],
};

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The handler gets the body as it was sent. */
    readonly rawBody?: boolean;
    /** Clients that set a content type on every call send it without a body too. */
    readonly bodyRequired?: boolean;
    /** The heading of the page that an error becomes. */
    readonly errorPage?: string | undefined;
  }
}

/** Serves every management route of the contract, with the same authentication, checks and errors for each. */
export async function createManagementApp(deps: ManagementAppDeps): Promise<RequestHandler> {
  const app = Fastify({
    bodyLimit: deps.bodyBytesMax,
    genReqId: (request) => String(request.headers[REQUEST_ID_SLOT] ?? ''),
    exposeHeadRoutes: false,
    // Routes have no schemas of Fastify's; without this it would load its compilers at the start.
    schemaController: { compilersFactory: { buildValidator: refuseSchema, buildSerializer: refuseSchema } },
    frameworkErrors: (error, request, reply) => {
      sendError(deps, error, request, reply);
    },
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, bytes: Buffer) => {
      demandUtf8(request.headers['content-type']);
      // Decoding replaces what is not UTF-8, which would be stored changed.
      if (!isUtf8(bytes)) throw new RelayError('invalid_json', { message: 'The request body is not UTF-8.' });
      const text = bytes.toString('utf8');
      const { rawBody, bodyRequired } = request.routeOptions.config;
      if (rawBody === true) return text;
      return text === '' && bodyRequired !== true ? undefined : parseJson(text);
    },
  );
  app.setErrorHandler((error, request, reply) => {
    sendError(deps, error, request, reply);
  });
  app.setNotFoundHandler((request, reply) => {
    sendError(deps, noSuchRoute(request, deps.handlers !== null), request, reply);
  });
  if (deps.handlers !== null) {
    for (const route of allRoutes) if (route.plane === 'management') mount(app, route, deps, deps.handlers);
  }
  mountReferencePages(app);
  await app.ready();

  return (request, response, requestId) => {
    request.headers[REQUEST_ID_SLOT] = requestId;
    app.routing(request, response);
  };
}

/** JSON is UTF-8. A body that claims another encoding would be read as other text than was sent. */
function demandUtf8(contentType = ''): void {
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(contentType)?.[1];
  if (charset === undefined || /^(?:utf-?8|us-ascii)$/i.test(charset)) return;
  throw new RelayError('unsupported_media_type', {
    message: `The request body has charset ${charset}, and Relay reads JSON as UTF-8. Send it in UTF-8, with Content-Type: application/json.`,
  });
}

function refuseSchema(): never {
  throw new Error('routes are checked against the contract, not by schemas of Fastify');
}

// The listener creates the id before the framework sees the request, and overwrites what a client sends under
// this name.
const REQUEST_ID_SLOT = 'x-relay-internal-request-id';

export function routesWithoutHandler(handlers: Handlers): RouteId[] {
  const open = allRoutes.filter(({ plane, id }) => plane === 'management' && handlers[id] === undefined);
  return open.map(({ id }) => id).sort();
}

function mount(app: FastifyInstance, route: Route, deps: ManagementAppDeps, handlers: Handlers): void {
  const handler = handlers[route.id] as AnyHandler | undefined;
  const check = {
    params: route.params && compileValidator(route.params),
    query: route.query && compileValidator(route.query),
    body: route.rawBody === true ? undefined : route.body && compileValidator(route.body),
  };
  const hasSecret = showsSecret(route.success.schema);
  app.route({
    method: route.method === 'GET' ? ['GET', 'HEAD'] : route.method,
    url: route.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    config: {
      rawBody: route.rawBody === true,
      bodyRequired: route.body !== undefined && route.bodyOptional !== true,
      errorPage: route.errorPage,
    },
    handler: async (request, reply) => {
      if (deps.draining()) throw new RelayError('draining');
      const caller = await admitCaller(deps, route, request);
      if (handler === undefined) throw notImplemented(route);
      const search = searchOf(request);
      demandKnown(queryIssues(route.query, search));
      const query = route.query && coerceQuery(route.query, search);
      if (check.params) demandValid(check.params(request.params), 'path');
      if (check.query) demandValid(check.query(query), 'query');
      const body = bodyOf(route, request);
      if (check.body && body !== undefined) demandValid(check.body(body), 'body');
      if (hasSecret) reply.header('cache-control', 'no-store');
      if (isStreamed(route) && request.method === 'HEAD') return sendStreamHead(route, reply);
      const stream = isStreamed(route) ? streamFor(deps, route, caller, request, reply) : null;
      let ended = stream?.ended;
      const call: AnyCall = {
        caller,
        requestId: request.id,
        remoteAddress: request.raw.socket.remoteAddress ?? '',
        params: request.params,
        query,
        body,
        header: (name: string) => singleHeader(request.headers[name]),
        setHeader: (name: string, value: string) => void reply.header(name, value),
        get ended() {
          ended ??= disconnected(reply.raw);
          return ended;
        },
      };
      const result = await handler(call);
      reply.code(route.success.status);
      if (stream !== null) {
        reply.type(`${route.success.contentType}; charset=utf-8`);
        return reply.send(stream.body(chunksOf(result)));
      }
      if (route.success.schema === undefined) return reply.send();
      return reply.send(result);
    },
  });
}

/** Aborted when the connection ends before the response does. Made for the few handlers that ask for it. */
function disconnected(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  if (response.destroyed) controller.abort();
  else
    response.once('close', () => {
      if (!response.writableFinished) controller.abort();
    });
  return controller.signal;
}

/** What is checked is what the handler gets: nothing sent is an object without fields, unless the route does without a body. */
function bodyOf(route: Route, { body }: FastifyRequest): unknown {
  if (body !== undefined || route.body === undefined || route.bodyOptional === true) return body;
  return route.rawBody === true ? '' : {};
}

/** A stream for HEAD would run unseen until its end, which an event stream does not have. */
function sendStreamHead(route: Route, reply: FastifyReply): FastifyReply {
  return reply.code(route.success.status).type(`${route.success.contentType}; charset=utf-8`).send();
}

function chunksOf(result: unknown): StreamedAnswer['chunks'] {
  if (isStreamedAnswer(result)) return result.chunks;
  throw new RelayError('internal_error', { internal: 'the handler of a stream returned no chunks' });
}

function isStreamedAnswer(result: unknown): result is StreamedAnswer {
  return typeof result === 'object' && result !== null && 'chunks' in result;
}

function streamFor(
  deps: ManagementAppDeps,
  route: Route,
  caller: Caller,
  request: FastifyRequest,
  reply: FastifyReply,
): AnswerStream {
  return openAnswerStream({
    response: reply.raw,
    requestId: request.id,
    endless: route.success.contentType === 'text/event-stream',
    draining: deps.draining,
    log: deps.log,
    checkAccessMs: deps.streamAccessCheckMs ?? STREAM_ACCESS_CHECK_MS,
    async checkAccess() {
      const { scopes } = await admitCaller(deps, route, request);
      // The stream's content depends on the scopes, and a stream cannot change its content.
      const same =
        scopes.size === caller.scopes.size && [...scopes].every((scope) => caller.scopes.has(scope));
      if (!same) throw new RelayError('permission_denied');
    },
  });
}

async function admitCaller(deps: ManagementAppDeps, route: Route, request: FastifyRequest): Promise<Caller> {
  if (route.access === 'public') return ANONYMOUS;
  const caller = await deps.authenticate(request.raw, { suspendedToo: route.openToSuspended === true });
  if (route.access === 'session_only' && caller.kind !== 'session') {
    throw new RelayError('permission_denied', {
      message:
        'This route requires a browser session and can’t be called with a key. Sign in to the console instead.',
    });
  }
  if (scopesSatisfy(route.access, caller.scopes)) return caller;
  const joined = typeof route.access === 'object' && 'scopes' in route.access ? 'or' : 'and';
  throw scopeRefusal(caller, scopesOf(route.access), joined);
}

function demandValid(result: ReturnType<ReturnType<typeof compileValidator>>, where: string): void {
  if (result.ok) return;
  throw invalid(result.issues, where, where === 'query' ? 'Query parameter ' : '');
}

function demandKnown(issues: readonly Issue[]): void {
  if (issues.length > 0) throw invalid(issues, 'query', '');
}

function invalid(issues: readonly Issue[], where: string, prefix: string): RelayError {
  const first = issues[0];
  return new RelayError('invalid_request', {
    message: `${prefix}${issues.map((issue) => issue.message).join('; ')}.`,
    param: first === undefined || first.path === '' ? where : first.path,
    fields: { issues: issues.slice(0, 20) },
  });
}

const addresses = allRoutes
  .filter(({ plane }) => plane !== 'inference')
  .map(({ plane, method, path }) => ({
    plane,
    method,
    pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  }));

/** Distinguishes a path that exists with other methods (405) from one that does not exist (404). */
function noSuchRoute({ method, raw }: FastifyRequest, hasManagement: boolean): RelayError {
  const [path = ''] = raw.url?.split('?', 1) ?? [];
  const methods = addresses
    .filter(({ plane, pattern }) => (hasManagement || plane !== 'management') && pattern.test(path))
    .flatMap(({ method: each }) => (each === 'GET' ? ['GET', 'HEAD'] : [each]));
  if (methods.length === 0) return new RelayError('route_not_found');
  const allow = [...new Set(methods)].sort().join(', ');
  return new RelayError('method_not_allowed', {
    message: `This path does not support ${method}. Supported: ${allow}.`,
    headers: { allow },
  });
}

function searchOf(request: FastifyRequest): URLSearchParams {
  return new URLSearchParams(request.raw.url?.split('?', 2)[1]);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new RelayError('invalid_json', { cause });
  }
}

function singleHeader(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

function notImplemented(route: Route): RelayError {
  return new RelayError('not_implemented', {
    message: `${route.method} ${route.path} is part of the API, but this version doesn’t support it yet.`,
  });
}

/** Whether the connection ended before the request: then this process did not cause the failure. */
function hasLeft({ destroyed, complete }: IncomingMessage): boolean {
  return destroyed && !complete;
}

function sendError(
  deps: ManagementAppDeps,
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const error = asRelayError(thrown, deps);
  if (hasLeft(request.raw))
    deps.log.debug({ request_id: request.id }, 'the client disconnected before its request was complete');
  else if (error.status >= 500 && error.code !== 'not_implemented') {
    // Only of a defect, the cause has more to tell than the error.
    const err = error.code === 'internal_error' ? (error.cause ?? error) : error;
    deps.log.error({ err, request_id: request.id, code: error.code }, 'request failed');
  }
  const json = errorResponse(error, { requestId: request.id, publicUrl: deps.publicUrl });
  const heading = request.routeOptions?.config?.errorPage;
  const answer =
    heading === undefined || wantsJson(request.headers)
      ? json
      : asDocument(json, error, { heading, requestId: request.id });
  reply.code(answer.status).headers(answer.headers);
  if (error.code === 'body_too_large') reply.header('connection', 'close');
  reply.header(headers.requestId, request.id).send(answer.body);
}
