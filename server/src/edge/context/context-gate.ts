import type { IncomingMessage } from 'node:http';
import { digestOfBody } from '../../domain/body-digest.ts';
import type { Caller } from '../../domain/caller.ts';
import { RelayError } from '../../domain/relay-error.ts';
import type { OrganizationSnapshot } from '../../domain/snapshot.ts';
import type { Authenticate } from '../../http/authenticate.ts';
import type { RequestHandler } from '../../http/listener.ts';
import { refuseRequest } from '../../http/refuse-request.ts';
import type { Log } from '../../kit/log.ts';
import type { KeyTerms } from '../../store/keys/key-budgets.ts';
import type { UsedContexts } from '../../store/keys/used-contexts.ts';
import { isOurs } from '../own-headers.ts';
import { CONTEXT_HEADER, type Context } from './context.ts';
import { ContextRefusedError, type VerifyContext } from './verify-context.ts';

export interface ContextGateDeps {
  readonly verify: VerifyContext;
  readonly used: UsedContexts;
  /** The organization's configuration at this version or later; throws 503 when it cannot be read. */
  readonly snapshotAtLeast: (
    organizationId: string,
    version: number,
  ) => OrganizationSnapshot | Promise<OrganizationSnapshot>;
  /** The key's limits, team and labels at that version or later. */
  readonly keyTermsOf: (
    organizationId: string,
    keyId: string,
    version: number,
  ) => KeyTerms | Promise<KeyTerms>;
  readonly publicUrl: string;
  readonly log: Log;
  /** The handler behind the gate; it asks for the caller of a request that passed. */
  readonly inner: (authenticate: Authenticate) => RequestHandler;
}

/**
 * The only way into inference behind a platform: a request whose context a platform signed for exactly this request, used
 * for the first time. The request keeps the id that the platform gave it.
 */
export function createContextGate(deps: ContextGateDeps): RequestHandler {
  const callers = new WeakMap<IncomingMessage, Caller>();
  const inner = deps.inner((request) => {
    const caller = callers.get(request);
    if (caller === undefined) throw new RelayError('invalid_context', { internal: 'it bypassed the gate' });
    return caller;
  });

  async function letIn(request: IncomingMessage): Promise<string> {
    const context = await deps.verify(onlyContextOf(request));
    demandThisRequest(context, request);
    await claim(deps.used, context.requestId);
    callers.set(request, await callerOf(deps, context));
    return context.requestId;
  }

  return (request, response, ownRequestId) => {
    letIn(request).then(
      (requestId) => inner(request, response, requestId),
      (error: unknown) => {
        const known = asRelayError(error);
        if (!(known instanceof RelayError))
          deps.log.error({ err: error, request_id: ownRequestId }, 'defect');
        else
          deps.log.warn(
            { request_id: ownRequestId, why: known.detail.internal },
            'rejected a signed context',
          );
        refuseRequest(request, response, known, { requestId: ownRequestId, publicUrl: deps.publicUrl });
      },
    );
  };
}

/** Exactly one header of exactly this name. An intermediary could read another spelling as the same. */
function onlyContextOf({ rawHeaders }: IncomingMessage): string {
  let found: string | null = null;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (!isOurs(name)) continue;
    if (name.toLowerCase() !== CONTEXT_HEADER) throw new ContextRefusedError(`unexpected header ${name}`);
    if (found !== null) throw new ContextRefusedError('there are two context headers');
    found = rawHeaders[index + 1] ?? '';
  }
  if (found === null) throw new ContextRefusedError('there is no context header');
  return found;
}

/** The body of a POST is compared after its reader has read it. */
function demandThisRequest(context: Context, request: IncomingMessage): void {
  if (context.method !== request.method) throw new ContextRefusedError('it is for another method');
  if (context.target !== request.url) throw new ContextRefusedError('it is for another path or query');
  if (request.method === 'POST') return;
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers;
  if (length !== '0' || encoding !== undefined || context.bodyDigest !== NO_BODY)
    throw new ContextRefusedError('it is for another body');
}

const NO_BODY = digestOfBody(Buffer.alloc(0));

async function claim(used: UsedContexts, contextId: string): Promise<void> {
  let first: boolean;
  try {
    first = await used.claim(contextId);
  } catch (cause) {
    throw new RelayError('policy_unavailable', {
      message: 'Relay can’t check right now whether it has already served this request. Retry shortly.',
      internal: cause instanceof RelayError ? (cause.detail.internal ?? cause.message) : String(cause),
      cause,
    });
  }
  if (!first) throw new ContextRefusedError('it was used before');
}

async function callerOf(deps: ContextGateDeps, context: Context): Promise<Caller> {
  const { organizationId, keyId, scopes } = context.caller;
  const snapshot = await deps.snapshotAtLeast(organizationId, context.configVersion);
  const terms = keyId === null ? null : await deps.keyTermsOf(organizationId, keyId, snapshot.version);
  return {
    ...context.caller,
    // The platform has already reduced the scopes; only the result counts here.
    access: { granted: keyId === null ? null : scopes, permissions: scopes, plan: snapshot.plan },
    keyPolicies: terms?.policies ?? [],
    keyTeamId: terms?.teamId ?? null,
    ...(terms?.labels !== undefined && { labels: terms.labels }),
    bodyDigest: context.bodyDigest,
  };
}

function asRelayError(error: unknown): unknown {
  if (!(error instanceof ContextRefusedError)) return error;
  return new RelayError('invalid_context', { internal: error.message, cause: error });
}
