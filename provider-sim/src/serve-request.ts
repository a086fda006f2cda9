import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Access } from './access/access.ts';
import { answerRequest } from './answer-request.ts';
import { errorBodyFor, isAnthropic, requestIdOf } from './anthropic/dialect.ts';
import { refuseRemoved } from './anthropic/validate-messages.ts';
import type { Ask } from './ask.ts';
import type { CachedRead, PlainAnswer } from './ask-cache.ts';
import type { Exchange } from './exchange.ts';
import type { Fault } from './fault.ts';
import type { FaultScript } from './fault-script.ts';
import { type HeaderFacts, inspectHeaders } from './inspect-headers.ts';
import { readModels, type SimModel } from './models.ts';
import { createEntry, type ExchangeBook, openExchange } from './open-exchange.ts';
import { type Refusal, refusal } from './openai-error.ts';
import { personalityFault } from './personalities/index.ts';
import type { BodyOperation } from './read-request.ts';
import { type Admittance, refuseHead, refuseViolations } from './refuse-head.ts';
import type { RequestLogEntry } from './request-log.ts';
import { type Route, routeOf, withUsualPrefix } from './route.ts';
import { sendBody } from './send-body.ts';
import type { Play } from './simulator.ts';

export interface SimState extends ExchangeBook, Admittance {
  bodyBytesMax: number;
  anyPrefix: boolean;
  access: Access | null;
  models: Map<string, SimModel>;
  script: FaultScript;
  play: Play | null;
  readBody: (operation: BodyOperation, bytes: Buffer) => CachedRead;
  nextId(): number;
}

const noBody = Buffer.alloc(0);

/** From the head of a request to its answer. */
export function serveRequest(state: SimState, req: IncomingMessage, res: ServerResponse): void {
  const url = req.url ?? '/';
  const mark = url.indexOf('?');
  const path = mark === -1 ? url : url.slice(0, mark);
  const facts = inspectHeaders(req.rawHeaders);
  const entry = createEntry(state.nextId(), req, path, mark === -1 ? '' : url.slice(mark + 1), facts);
  const exchange = openExchange(state, req, res, entry);
  const early = state.script.take({ path, key: facts.key, model: null }, 'headers');
  if (early !== null) {
    answer(state, exchange, null, early, noBody);
    return;
  }
  receiveBody(exchange, state.bodyBytesMax, (body) => {
    if (body !== null) state.log.keepBody(entry, body);
    const route = routeOf(entry.method, state.anyPrefix ? withUsualPrefix(path) : path);
    const verdict = body === null ? tooLarge : judge(state, route, facts, entry, body);
    if (verdict.refused !== null) refuse(exchange, verdict.refused);
    else grant(state, exchange, verdict.ask, verdict.plain, body ?? noBody);
  });
}

type Verdict = { refused: Refusal } | { refused: null; ask: Ask; plain: PlainAnswer | null };

const tooLarge = { refused: refusal(413, 'The request is too large.', 'request_too_large', null) };

function judge(
  state: SimState,
  route: Route,
  facts: HeaderFacts,
  entry: RequestLogEntry,
  body: Buffer,
): Verdict {
  const forbidden = refuseViolations(facts.violations);
  if (forbidden !== null) return { refused: forbidden };
  if (route.refused !== null) return { refused: route.refused };
  const anthropic = isAnthropic(entry);
  const { method, path, query, rawHeaders } = entry;
  const url = query === '' ? path : `${path}?${query}`;
  const shut = state.access?.({ method, url, rawHeaders, body }) ?? null;
  if (shut !== null) return { refused: refusal(401, shut, 'invalid_credential', null) };
  const refused = refuseHead(state, route.operation, facts, anthropic);
  if (refused !== null) return { refused };
  if (route.operation === 'models') {
    const ask = readModels([...state.models.values()], route.id, anthropic);
    if (ask !== null) return { refused: null, ask, plain: null };
    return { refused: refusal(404, `The model '${route.id}' does not exist.`, 'model_not_found', 'model') };
  }
  const { result, plain } = state.readBody(route.operation, body);
  if (result.ask === null) return { refused: result.refused };
  const removed = anthropic ? refuseRemoved(facts.anthropicVersion, body) : null;
  return removed === null ? { refused: null, ask: result.ask, plain } : { refused: removed };
}

/** Answers a request that passed; the plain case is sent from memory. */
function grant(state: SimState, exchange: Exchange, ask: Ask, plain: PlainAnswer | null, body: Buffer): void {
  const { entry, res } = exchange;
  entry.model = ask.model;
  entry.stream = ask.stream;
  entry.unknownFields = ask.unknownFields;
  const fault = takeFault(state, entry, ask, body);
  if (fault !== null || plain === null) {
    answer(state, exchange, ask, fault, body);
    return;
  }
  entry.status = 200;
  entry.promptTokens = plain.promptTokens;
  entry.completionTokens = plain.completionTokens;
  entry.bytesSent = plain.latin1.length;
  exchange.reportOnCompletion = plain.usage;
  exchange.settle('completed');
  const idHeader = isAnthropic(entry) ? 'request-id' : 'x-request-id';
  res.writeHead(200, [idHeader, requestIdOf(entry), ...plain.fields]);
  res.end(plain.latin1, 'latin1');
}

/** What is played, the script's fault and the body's own, the later winning where several speak. */
function takeFault(state: SimState, entry: RequestLogEntry, ask: Ask, body: Buffer): Fault | null {
  const scripted = state.script.take({ path: entry.path, key: entry.key, model: ask.model }, 'body');
  const faults = [playedFault(state, entry, body), scripted, ask.fault].filter((fault) => fault !== null);
  return faults.length === 0 ? null : Object.assign({}, ...faults);
}

function playedFault({ play, models }: SimState, entry: RequestLogEntry, body: Buffer): Fault | null {
  const personality = models.get(entry.model ?? '')?.personality;
  if (personality !== undefined && entry.path.endsWith('/chat/completions'))
    return personalityFault(personality, body, entry.stream);
  const played = play?.(entry, body) ?? null;
  return Array.isArray(played) ? { rawFrames: played } : played;
}

function answer(
  state: SimState,
  exchange: Exchange,
  ask: Ask | null,
  fault: Fault | null,
  body: Buffer,
): void {
  exchange.entry.fault = fault;
  state.log.changed(exchange.entry);
  answerRequest(exchange, ask, fault ?? {}, body).catch((error: unknown) => {
    // A fault that cannot be carried out must not look like one that was.
    const reason = error instanceof Error ? error.message : String(error);
    exchange.entry.violations.push(`simulator_failed:${reason}`);
    exchange.settle('sim_closed');
    exchange.res.destroy();
  });
}

function refuse(exchange: Exchange, given: Refusal): void {
  const bytes = Buffer.from(errorBodyFor(exchange.entry, given));
  const fault: Fault = given.status === 413 ? { connectionClose: true } : {};
  const body = { status: given.status, contentType: 'application/json', bytes, outcome: 'refused' } as const;
  void sendBody(exchange, body, fault);
}

/** Hands over the whole body, or null as soon as it is larger than allowed. */
function receiveBody(exchange: Exchange, bytesMax: number, done: (body: Buffer | null) => void): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  exchange.req.on('data', (chunk: Buffer) => {
    const before = bytes;
    bytes += chunk.length;
    if (bytes <= bytesMax) chunks.push(chunk);
    else if (before <= bytesMax) done(null);
  });
  exchange.req.on('end', () => {
    if (bytes > bytesMax) return;
    const [only] = chunks;
    done(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks));
  });
}
