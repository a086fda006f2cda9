import type { EndpointTestResult, ProviderTestResult, WireProtocol } from '@relay/contract';
import { RelayError } from '../../domain/relay-error.ts';
import { authStyles } from '../../domain/upstream-auth.ts';
import { errorTextOf, parsed } from '../../domain/upstream-text.ts';
import type { Handlers } from '../../http/call.ts';
import type { EgressRequest } from '../../kit/egress/index.ts';
import { mainProtocols, probedProtocol } from '../../protocols/index.ts';
import type { ModelPages, Protocol } from '../../protocols/protocol.ts';
import { providerPresetOf } from '../../protocols/provider-presets.ts';
import { TokenError } from '../../protocols/upstream-auth/google-tokens.ts';
import { modelListTarget, operationTarget, withExtraHeaders } from '../../protocols/upstream-request.ts';
import type { tables } from '../../store/postgres/schema.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { isId, notFound } from '../resources/refusals.ts';
import { ownedRows, type Row, storedTable } from '../resources/rows.ts';
import type { Outcome, Subject } from './explanations.ts';
import { modelListOf } from './model-list.ts';
import { type ProbeResult, type Send, withProbe } from './probe.ts';
import { createRunningTests } from './running-tests.ts';
import { type Target, targetOf } from './target.ts';
import { outcomeOf, type TestAnswer, unsent, verdictOf } from './verdict.ts';

const TIMEOUT_MS = 10_000;
const RESPONSE_BYTES_MAX = 1024 * 1024;
/** A page of Anthropic's has up to 1,000 models. */
const PAGES_MAX = 5;
const RUNNING_MAX = { inOrganization: 4, inProcess: 64 };

type TestDeps = Pick<
  ManagementDeps,
  'ofOrganization' | 'sealer' | 'clock' | 'openEgress' | 'upstreamAuth' | 'deployment'
>;

const NO_MODELS = { model_count: null, model_ids: [], protocol: null };

/** One test of a stored provider or endpoint. */
interface Test {
  readonly provider: Row<'providers'>;
  readonly credentialId: string | null;
  readonly model: string | null;
  readonly run: (target: Target, send: Send) => Promise<TestAnswer & Partial<ModelsAnswer>>;
}

type ModelsAnswer = Pick<ProviderTestResult, 'model_count' | 'model_ids' | 'protocol'>;

/**
 * Calls the stored provider as a request would and reports the stage that fails. Meters, records and writes
 * nothing. Shows only a short part of the response, without the secret.
 */
export function connectionTestHandlers(deps: TestDeps): Handlers {
  const limited = createRunningTests(RUNNING_MAX);

  async function tested({
    provider,
    credentialId,
    model,
    run,
  }: Test): Promise<TestAnswer & Partial<ModelsAnswer>> {
    const { organization_id } = provider;
    const given = { provider, credentialId, timeoutMs: TIMEOUT_MS };
    const target = await targetOf(deps.ofOrganization(organization_id), deps.sealer, given);
    if (target.unready !== null) return unsent(target.unready, { ...target.subject, called: '', model });
    const { openEgress, clock } = deps;
    const probe = { openEgress, clock, timeoutMs: TIMEOUT_MS, responseBytesMax: RESPONSE_BYTES_MAX };
    const testing = limited(organization_id, () =>
      withProbe(probe, (send) => run(target, authorized(deps, organization_id, target, send))),
    );
    return await testing.catch((error: unknown) => {
      if (!(error instanceof TokenError)) throw error;
      return unsent('token_failed', { ...target.subject, called: '', model, tokenProblem: error.message });
    });
  }

  async function stored<T extends keyof typeof tables>(
    table: T,
    organizationId: string,
    id: string,
    kind: string,
  ): Promise<Row<T>> {
    const db = deps.ofOrganization(organizationId);
    const row = isId(id) ? await ownedRows(storedTable(table)).find(db, organizationId, id) : undefined;
    if (row === undefined) throw notFound(kind);
    return row;
  }

  const headers = () => [
    ...['accept', 'application/json'],
    ...['accept-encoding', 'identity'],
    ...['user-agent', `relay/${deps.deployment.version}`],
  ];

  return {
    async testProvider({ caller: { organizationId }, params }): Promise<ProviderTestResult> {
      const provider = await stored('providers', organizationId, params.provider_id, 'provider');
      const run = (target: Target, send: Send) => listModels(target, send, headers());
      const answer = await tested({ provider, credentialId: null, model: null, run });
      const { model_count = null, model_ids = [], protocol = null } = answer;
      return { ...answer, model_count, model_ids, protocol };
    },
    async testEndpoint({ caller: { organizationId }, params }): Promise<EndpointTestResult> {
      const endpoint = await stored('endpoints', organizationId, params.endpoint_id, 'endpoint');
      const provider = await stored('providers', organizationId, endpoint.provider_id, 'provider');
      const { upstream_model: model, credential_id: credentialId } = endpoint;
      const protocol = probedProtocol(endpoint.route_kind, endpoint.protocol);
      const run = (target: Target, send: Send) => askModel(target, send, headers(), { protocol, model });
      return { ...(await tested({ provider, credentialId, model, run })), operation: protocol.operation };
    },
  };
}

async function listModels(
  target: Target,
  send: Send,
  headers: readonly string[],
): Promise<TestAnswer & ModelsAnswer> {
  const listAt = modelListTarget(target, target.pathPrefix);
  if (listAt === null)
    return { ...unsent('no_model_list', { ...target.subject, called: '', model: null }), ...NO_MODELS };
  const ask = (family: WireProtocol, page: Readonly<Record<string, string>> | null) =>
    send(target.origin, {
      method: 'GET',
      path: modelListTarget(target, target.pathPrefix, page) ?? listAt,
      headers: [...headers, ...mainProtocols[family].headers.own],
      body: null,
    });
  const askFirst = (family: WireProtocol) => ask(family, mainProtocols[family].models.pages?.first ?? null);
  // Without a preset OpenAI's headers are those of every provider. One that needs more says so in a 400.
  let protocol: WireProtocol = providerPresetOf(target.presetSlug)?.protocol ?? 'openai';
  let result = await askFirst(protocol);
  const wanted = otherFamily(messageOf400(result));
  if (wanted !== null && wanted !== protocol) {
    result = await askFirst(wanted);
    protocol = wanted;
  }
  const secret = sentPart(target);
  const pages = await pagesFrom(result, mainProtocols[protocol].models.pages, (page) => ask(protocol, page));
  const models = modelListOf(pages, secret);
  // A list that is too large to read still proves that the provider responds and accepts the credential.
  const listed = models !== null || (result.kind === 'answered' && !result.complete);
  const outcome = outcomeIn(result, listed);
  const answer = verdictOf(result, outcome, subjectAt(target, listAt, null), secret);
  return {
    ...answer,
    model_count: models?.count ?? null,
    model_ids: models?.ids ?? [],
    protocol: models === null ? null : protocol,
  };
}

/** The protocol whose header the provider misses; null when it misses none. */
function otherFamily(message: string): WireProtocol | null {
  for (const { family, headers } of Object.values(mainProtocols)) {
    const names = headers.own.filter((_, index) => index % 2 === 0);
    if (names.some((name) => message.includes(name))) return family;
  }
  return null;
}

/** The first answer and those of the pages after it. A page that fails ends the list: what was read before it is of use. */
async function pagesFrom(
  first: ProbeResult,
  rules: ModelPages | null,
  ask: (page: Readonly<Record<string, string>>) => Promise<ProbeResult>,
): Promise<unknown[]> {
  const pages: unknown[] = [];
  let result: ProbeResult | null = first;
  while (result !== null && result.kind === 'answered' && outcomeOf(result.status) === 'ok') {
    const page = parsed(result.body);
    pages.push(page);
    const next: Readonly<Record<string, string>> | null =
      pages.length < PAGES_MAX ? (rules?.after(page) ?? null) : null;
    result = next === null ? null : await ask(next);
  }
  return pages;
}

async function askModel(
  target: Target,
  send: Send,
  headers: readonly string[],
  { protocol, model }: { readonly protocol: Protocol; readonly model: string },
): Promise<TestAnswer> {
  const { probe } = protocol;
  const own = protocol.headers.own;
  const path = operationTarget(target, target.pathPrefix, protocol.path, model);
  const ask = (body: object) =>
    send(target.origin, {
      method: 'POST',
      path,
      headers: [...headers, ...own, 'content-type', 'application/json'],
      body: Buffer.from(JSON.stringify(body)),
    });
  let result = await ask(probe.request(model));
  const other = probe.requestAfter(model, messageOf400(result));
  if (other !== null) result = await ask(other);
  const secret = sentPart(target);
  const answered = result.kind === 'answered' && probe.isAnswer(parsed(result.body));
  const outcome = probe.provesReached(messageOf400(result)) ? 'ok' : outcomeIn(result, answered);
  return verdictOf(result, outcome, subjectAt(target, path, model), secret);
}

/** `path` is the one that was called. Its query stays out of messages. */
function subjectAt({ origin, subject }: Target, path: string, model: string | null): Subject {
  return { ...subject, called: origin + path.replace(/\?.*$/, ''), model };
}

/** Tests without a usable credential are not sent, so `secret` is present whenever it is needed. */
function authorized(
  { upstreamAuth }: TestDeps,
  organizationId: string,
  { auth: provider, secret, extraHeaders }: Target,
  send: Send,
): Send {
  return async (origin, asked) => {
    const request: EgressRequest = { ...asked, headers: withExtraHeaders(asked.headers, extraHeaders) };
    const target = { provider, origin, secret, organizationId };
    await upstreamAuth.authorize(request, target);
    const result = await send(origin, request);
    if (result.kind === 'answered' && result.status === 401) upstreamAuth.rejected(request, target);
    return result;
  };
}

function sentPart({ auth, secret }: Target): string | null {
  return secret === null ? null : authStyles[auth.authMode].sentPart(secret);
}

/** `expected`: whether the body of a 2xx response has the expected content. */
function outcomeIn(result: ProbeResult, expected: boolean): Outcome {
  if (result.kind === 'failed') {
    const { reason } = result;
    // Nothing was asked of the provider, so there is no result of a test.
    if (reason === 'local_resources') throw new RelayError('internal_error', { internal: reason });
    return reason;
  }
  const outcome = outcomeOf(result.status);
  return outcome === 'ok' && !expected ? 'invalid_response' : outcome;
}

/** The message of the provider's 400; empty for any other answer. */
function messageOf400(result: ProbeResult): string {
  if (result.kind === 'failed' || result.status !== 400) return '';
  return errorTextOf(result.body, null) ?? '';
}
