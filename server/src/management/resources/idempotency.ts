import {
  headers,
  holdsShownSecret,
  type Route,
  type RouteId,
  routes,
  withoutShownSecrets,
} from '@relay/contract';
import type { Kysely } from 'kysely';
import type { Caller } from '../../domain/caller.ts';
import { RelayError } from '../../domain/relay-error.ts';
import type { Call, Handlers, RouteAnswer } from '../../http/call.ts';
import { UnsealError } from '../../kit/seal.ts';
import { hasAuditEntry } from '../../store/configuration/audit-log.ts';
import type { Database } from '../../store/postgres/schema.ts';
import type { ManagementDeps } from './deps.ts';
import {
  type Claim,
  claimKey,
  endWithoutAnswer,
  forgetExpired,
  type KnownRequest,
  releaseClaim,
  storeAnswer,
} from './idempotency-rows.ts';
import { type AnyHandler, mapHandlers } from './map-handlers.ts';
import { invalidField } from './refusals.ts';

type IdempotencyDeps = Pick<ManagementDeps, 'ofOrganization' | 'sealer'>;

/** The stored response. Its status follows from the route. */
interface Answer {
  readonly body?: RouteAnswer<RouteId>;
  /** Instead of a body that showed a secret: the rest of it. */
  readonly created?: Record<string, unknown>;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

const PRINTABLE = /^[\x20-\x7e]{1,255}$/;

/**
 * Makes creates safe to retry: with the same `Idempotency-Key`, the caller gets the first response again and
 * nothing is created twice. A response that showed a secret is not repeated: the retry gets 409 with what was
 * created. Does nothing without the header.
 */
export function withIdempotency(deps: IdempotencyDeps, handlers: Handlers): Handlers {
  return mapHandlers(handlers, (handler, id) => {
    const route: Route = routes[id];
    const repeatable = route.method === 'POST' && route.errors.includes('idempotency_conflict');
    return repeatable ? idempotent(deps, route, handler) : handler;
  });
}

function idempotent(deps: IdempotencyDeps, route: Route, handler: AnyHandler): AnyHandler {
  return async (call) => {
    const key = call.header(headers.idempotencyKey.toLowerCase());
    if (key === undefined) return handler(call);
    const claim = claimOf(deps, route, call, key);
    const db = deps.ofOrganization(call.caller.organizationId);
    await forgetExpired(db);
    const known = await claimKey(db, claim);
    if (known !== 'claimed') return replay(deps, call, claim, known);
    return serve({ ...deps, db, route, handler }, call, claim);
  };
}

/** A claim covers the key, the caller and the request. */
function claimOf({ sealer }: IdempotencyDeps, route: Route, call: Call<RouteId>, key: string): Claim {
  if (!PRINTABLE.test(key)) {
    throw invalidField(
      headers.idempotencyKey,
      `${headers.idempotencyKey} must be 1 to 255 printable ASCII characters. A UUID is a good key.`,
    );
  }
  const params = new Map<string, string>(Object.entries(call.params ?? {}));
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params.get(name) ?? '');
  const request = JSON.stringify([route.method, path, call.body]);
  return {
    organizationId: call.caller.organizationId,
    callerId: callerIdOf(call.caller),
    key,
    method: route.method,
    path,
    requestDigest: sealer.digest(request),
  };
}

function callerIdOf(caller: Caller): string {
  return caller.keyId ?? (caller.kind === 'session' ? caller.userId : caller.kind);
}

/** Runs the handler after its claim is committed, so that no other process runs it. */
async function serve(
  deps: IdempotencyDeps & { db: Kysely<Database>; route: Route; handler: AnyHandler },
  call: Call<RouteId>,
  claim: Claim,
): Promise<RouteAnswer<RouteId>> {
  const sent: [string, string][] = [];
  const setHeader = (name: string, value: string) => {
    sent.push([name, value]);
    call.setHeader(name, value);
  };
  try {
    const body = await deps.handler({ ...call, setHeader });
    const answer: Answer = { ...storable(deps.route, body), headers: sent };
    const sealed = deps.sealer.seal(JSON.stringify(answer), bindingOf(claim));
    // The create has succeeded. If its response cannot be stored, a retry learns that the outcome is unknown.
    await storeAnswer(deps.db, claim, deps.route.success.status, sealed).catch(() => undefined);
    return body;
  } catch (error) {
    // A claim that cannot be released stays; once it is old, a retry learns that the outcome is unknown.
    await settleFailure(deps.db, call, claim, error).catch(() => undefined);
    throw error;
  }
}

function storable({ success: { schema } }: Route, body: RouteAnswer<RouteId>): Omit<Answer, 'headers'> {
  if (schema === undefined || !holdsShownSecret(schema, Object(body))) return { body };
  const rest = withoutShownSecrets(schema, body);
  // A resource that is the whole answer has fields of its own, which do not belong among those of an error.
  return { created: 'id' in rest ? { created: rest } : rest };
}

/**
 * An error below 500 wrote nothing, so a retry may run. After any other error, the audit log shows whether the
 * write was committed.
 */
async function settleFailure(
  db: Kysely<Database>,
  call: Call<RouteId>,
  claim: Claim,
  error: unknown,
): Promise<void> {
  const refused = error instanceof RelayError && error.status < 500;
  const written = !refused && (await hasAuditEntry(db, claim.organizationId, call.requestId));
  if (written) await endWithoutAnswer(db, claim);
  else await releaseClaim(db, claim);
}

function replay(
  { sealer }: IdempotencyDeps,
  call: Call<RouteId>,
  claim: Claim,
  known: KnownRequest | 'unsettled',
): RouteAnswer<RouteId> {
  if (known === 'unsettled') throw stillServed();
  if (!claim.requestDigest.matches(known.requestHash)) throw new RelayError('idempotency_conflict');
  if (known.sealedAnswer === null) throw known.ended ? outcomeUnknown() : stillServed();
  const answer = openAnswer(sealer, known.sealedAnswer, claim);
  for (const [name, value] of answer.headers) call.setHeader(name, value);
  call.setHeader(headers.idempotencyReplayed, 'true');
  if (answer.created !== undefined) throw new RelayError('secret_already_shown', { fields: answer.created });
  return answer.body;
}

function openAnswer(sealer: ManagementDeps['sealer'], sealed: Buffer, claim: Claim): Answer {
  try {
    const answer: Answer = JSON.parse(sealer.open(sealed, bindingOf(claim)).reveal());
    return answer;
  } catch (error) {
    // The master key that sealed it is no longer configured.
    if (error instanceof UnsealError) throw outcomeUnknown();
    throw error;
  }
}

function bindingOf(claim: Claim): string[] {
  return ['idempotency', claim.organizationId, claim.callerId, claim.key];
}

function stillServed(): RelayError {
  return new RelayError('idempotency_conflict', {
    message: `The first request with this ${headers.idempotencyKey} is still being served. Retry in a second to get its response.`,
    retry: true,
    headers: { [headers.retryAfter]: '1' },
  });
}

function outcomeUnknown(): RelayError {
  return new RelayError('idempotency_conflict', {
    message: `The first request with this ${headers.idempotencyKey} has no stored response, and Relay doesn’t know if it took effect. List the resources; if it changed nothing, send it again with a new key.`,
  });
}
