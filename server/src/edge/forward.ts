import type { IncomingMessage, ServerResponse } from 'node:http';
import { digestInSteps } from '../domain/body-digest.ts';
import { RelayError } from '../domain/relay-error.ts';
import type { Authenticate } from '../http/authenticate.ts';
import { ClientGoneError } from '../http/client-gone-error.ts';
import { inferenceRouteOf, isProtocol } from '../http/inference-route.ts';
import type { RequestHandler } from '../http/listener.ts';
import type { OpenWork } from '../http/open-work.ts';
import { type BodyBounds, readBody } from '../http/read-body.ts';
import { refuseRequest } from '../http/refuse-request.ts';
import { scopeRefusal } from '../http/scope-refusal.ts';
import type { InternalLink } from '../kit/egress/index.ts';
import type { FairSlices } from '../kit/fair-slices.ts';
import type { Log } from '../kit/log.ts';
import type { SignContext } from './context/sign-context.ts';
import { ForwardedAnswer } from './forwarded-answer.ts';
import { forwardedHeaders } from './forwarded-headers.ts';

export interface ForwarderDeps extends BodyBounds {
  readonly authenticate: Authenticate;
  readonly sign: SignContext;
  /** The configuration version that this process decides on. */
  readonly versionOf: (organizationId: string) => number;
  readonly link: InternalLink;
  /** Large bodies are digested in slices, in which organizations take turns. */
  readonly slices: FairSlices;
  readonly publicUrl: string;
  /** True while draining: new requests are rejected. */
  readonly draining: () => boolean;
  readonly open: OpenWork;
  readonly log: Log;
}

/**
 * Serves `/v1/` in a process without inference: authenticates the caller and sends the request to inference with a context
 * signed for it, under the same request id. The whole body is read first, because the context is bound to it; the response
 * is streamed.
 */
export function createForwarder(deps: ForwarderDeps): RequestHandler {
  return (request, response, requestId) => {
    const refuse = (error: unknown) => {
      if (!(error instanceof RelayError)) deps.log.error({ err: error, request_id: requestId }, 'defect');
      refuseRequest(request, response, error, { requestId, publicUrl: deps.publicUrl });
    };
    forward(deps, request, response, requestId, refuse).catch((error: unknown) => {
      if (!(error instanceof ClientGoneError)) refuse(error);
    });
  };
}

async function forward(
  deps: ForwarderDeps,
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string,
  refuse: (error: unknown) => void,
): Promise<void> {
  const route = inferenceRouteOf(request);
  const authenticated = deps.authenticate(request);
  const caller = authenticated instanceof Promise ? await authenticated : authenticated;
  if (!caller.scopes.has('relay:request')) throw scopeRefusal(caller, ['relay:request']);
  if (deps.draining()) throw new RelayError('draining');

  const hasBody = isProtocol(route);
  const body = hasBody ? await readBody(request, response, deps, caller.organizationId) : EMPTY;
  const bodyDigest = await deps.slices.run(caller.organizationId, digestInSteps(body));
  const method = hasBody ? 'POST' : request.method === 'HEAD' ? 'HEAD' : 'GET';
  const target = request.url ?? '';
  const context = await deps.sign({
    requestId,
    method,
    target,
    bodyDigest,
    caller,
    configVersion: deps.versionOf(caller.organizationId),
  });
  // The client disconnected; drop its request.
  if (response.destroyed) return;

  const answer = new ForwardedAnswer({
    response,
    unanswered: (reason) => {
      deps.log.error({ request_id: requestId, why: reason }, 'the inference service did not respond');
      refuse(unavailable(reason));
    },
    refuse,
  });
  deps.open.add(answer);
  response.once('close', () => {
    deps.open.delete(answer);
    if (!response.writableFinished) answer.clientLeft();
  });
  const headers = forwardedHeaders(request.rawHeaders, context);
  const sent = { method, path: target, headers, body: hasBody ? body : null } as const;
  answer.stopRequest = deps.link.send(sent, answer, caller.organizationId);
}

const EMPTY = Buffer.alloc(0);

function unavailable(internal: string): RelayError {
  return new RelayError('configuration_unavailable', {
    message: 'The inference service is unreachable. Retry shortly.',
    internal,
  });
}
