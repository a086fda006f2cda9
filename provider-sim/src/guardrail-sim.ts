import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answer, type GuardrailBehaviourName, guardrailBehaviours } from './guardrail-behaviours.ts';
import {
  type GuardrailService,
  type GuardrailServiceName,
  guardrailServices,
  isFlagged,
} from './guardrail-services.ts';
import { inspectHeaders } from './inspect-headers.ts';

/** One time it was asked, as it saw it. */
export interface GuardrailLogEntry {
  /** With the query. */
  readonly path: string;
  readonly method: string;
  readonly headers: IncomingMessage['headers'];
  /** As parsed; undefined when it was no JSON. */
  readonly body: unknown;
  /** What no gateway may send; such a request is refused with 400. */
  readonly violations: readonly string[];
}

/** A simulated guardrail: strict about what it is sent, and as nasty as its address says. */
export interface GuardrailSim {
  readonly url: string;
  /** The address of one that behaves so; `mark` tells guardrails of the same behaviour apart in the log. */
  urlOf(behaviour: GuardrailBehaviourName, mark?: string): string;
  serviceUrlOf(service: GuardrailServiceName): string;
  readonly log: readonly GuardrailLogEntry[];
  close(): Promise<void>;
}

export interface GuardrailSimOptions {
  /** What the services take as their key. */
  readonly serviceKey?: string;
  /** 0, the default, takes a free port. */
  readonly port?: number;
  /** The log keeps the latest; all of them unless given. */
  readonly logEntriesMax?: number;
}

/** What `custom-http` is sent. */
const CUSTOM_FIELDS = ['text', 'stage', 'operation', 'model', 'request_id'];

export async function startGuardrailSim(options: GuardrailSimOptions = {}): Promise<GuardrailSim> {
  const log: GuardrailLogEntry[] = [];
  const server = createServer({ keepAliveTimeout: 120_000 });
  server.on('request', (request, response) => void serve(request, response, log, options));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    urlOf: (behaviour, mark) => `${url}/custom${mark === undefined ? '' : `/${mark}`}/${behaviour}`,
    serviceUrlOf: (service) => url + guardrailServices[service].path,
    log,
    close: () => close(server),
  };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  log: GuardrailLogEntry[],
  options: GuardrailSimOptions,
): Promise<void> {
  const text = await bodyOf(request).catch(() => null);
  // The client disconnected during its request; there is nothing to answer.
  if (text === null) return;
  const path = request.url ?? '';
  const body = parsed(text);
  const service = Object.values<GuardrailService>(guardrailServices).find((each) => each.path === path);
  const violations = [...headerViolations(request, text), ...(service === undefined ? custom(body) : [])];
  log.push({ path, method: request.method ?? '', headers: request.headers, body, violations });
  if (log.length > (options.logEntriesMax ?? Number.POSITIVE_INFINITY)) log.shift();
  response.on('error', () => undefined);
  if (violations.length > 0) answer(response, 400, JSON.stringify({ error: violations }));
  else if (service !== undefined) serveService(service, request, response, body, options);
  else behave(path, response, body);
}

function behave(path: string, response: ServerResponse, body: unknown): void {
  const behaviour = path.slice(path.lastIndexOf('/') + 1);
  const asked = { text: String((body as { text?: unknown }).text) };
  if (Object.hasOwn(guardrailBehaviours, behaviour))
    guardrailBehaviours[behaviour as GuardrailBehaviourName](response, asked);
  else answer(response, 404, '{}');
}

function serveService(
  service: GuardrailService,
  { headers }: IncomingMessage,
  response: ServerResponse,
  body: unknown,
  { serviceKey }: GuardrailSimOptions,
): void {
  const { header, prefix } = service.key;
  const isKnown = serviceKey !== undefined && headers[header] === prefix + serviceKey;
  const words = service.textOf(body as Record<string, unknown>);
  const refuse = (status: number, message: string) =>
    answer(response, status, JSON.stringify({ error: { message } }));
  if (!isKnown) refuse(401, 'the key is not known');
  else if (words === undefined) refuse(400, 'the request is not understood');
  else answer(response, 200, JSON.stringify(service.answerTo(isFlagged(words))));
}

function headerViolations({ method, rawHeaders }: IncomingMessage, text: string): string[] {
  const { violations, contentType } = inspectHeaders(rawHeaders);
  if (method !== 'POST' && method !== 'PUT') violations.push(`method:${method}`);
  if (contentType !== 'application/json') violations.push(`content_type:${contentType}`);
  const value = parsed(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) violations.push('not_an_object');
  return violations;
}

/** The template of `custom-http` filled in whole; a guardrail with a template of its own says so by `custom: true`. */
function custom(body: unknown): string[] {
  if (typeof body !== 'object' || body === null || 'custom' in body) return [];
  const violations = CUSTOM_FIELDS.filter(
    (field) => typeof (body as Record<string, unknown>)[field] !== 'string',
  );
  if (JSON.stringify(body).includes('{{')) violations.push('unfilled');
  return violations.map((field) => `field:${field}`);
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

async function close(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
}
