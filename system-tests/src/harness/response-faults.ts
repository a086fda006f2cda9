import {
  allRoutes,
  compileValidator,
  ErrorBody,
  type ErrorCode,
  errors,
  headers as headerNames,
  holdsShownSecret,
  type Route,
  type RouteId,
  type Validator,
} from '@relay/contract';
import { ContractFault } from './contract-fault.ts';

// What the contract says about every response, whatever a test asked: one judge for all suites.

/** A response that was read whole; the text of an endless stream is empty. */
export interface ReceivedResponse {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-([0-9a-f])[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d/;
/** RFC 3339 in UTC, with milliseconds. */
const EXACT_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/** Any text that the client has sent. */
const OF_CLIENTS = 'client_request_id';
/** Their items have IDs that the billing provider gave. */
const WITH_IDS_OF_OTHERS: readonly RouteId[] = ['getBillingHistory'];
const WITHOUT_BODY = [204, 302, 304];

/** Requests that HTTP itself rules out have these statuses, whatever the status of the error's code. */
const STATUSES_OF_HTTP = [417, 431, 505];
/** What a load balancer in front of Relay answers by itself. */
const STATUSES_OF_PROXIES = [502, 503, 504];

const isErrorBody = compileValidator(ErrorBody);
const validators = new Map<string, Validator>();

/** The route that serves the request; null if the contract has none. The one with fewer parameters wins. */
export function routeFor(method: string, path: string): Route | null {
  const wanted = method === 'HEAD' ? 'GET' : method;
  const pathname = path.split(/[?#]/, 1)[0] ?? '';
  return (
    patterns.find(({ route, pattern }) => route.method === wanted && pattern.test(pathname))?.route ?? null
  );
}

const patterns = allRoutes
  .map((route) => ({
    route,
    pattern: new RegExp(`^${route.path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}/?$`),
    parameters: route.path.split('{').length,
  }))
  .toSorted((a, b) => a.parameters - b.parameters);

/** Lists how the response deviates from the contract, each deviation with its path in the body. */
export function responseFaults(response: ReceivedResponse): readonly string[] {
  const { method, path, status, headers, text } = response;
  const route = routeFor(method, path);
  if (isOfProxy(response)) return [];
  if (headers.get(headerNames.errorSource) === 'upstream')
    return route?.plane === 'inference' ? [] : ['a provider’s response on a route that calls none'];
  if (route === null && !/^\/(?:api|v1)\//.test(path)) return [];
  const requestId = headers.get(headerNames.requestId) ?? '';
  const isNamed = route?.plane === 'operations' || ID.test(requestId);
  const faults = isNamed ? [] : [`x-request-id is "${requestId}"`];
  if (WITHOUT_BODY.includes(status) || method === 'HEAD') {
    if (text !== '') faults.push(`the body is ${text.slice(0, 80)}, not empty`);
    if (status === 204 && headers.has('content-type'))
      faults.push(`a response without a body is ${headers.get('content-type')}`);
    if (route !== null && status < 300 && route.success.schema !== undefined && method !== 'HEAD')
      faults.push('the body is missing');
    return faults;
  }
  const { success } = route ?? {};
  const isSuccess = status === success?.status || success?.otherStatuses?.includes(status) === true;
  if (isSuccess && route !== null) return [...faults, ...successFaults(route, response)];
  if (status < 400) return [...faults, `the contract has no ${status}`];
  return [...faults, ...errorFaults(route, response, requestId)];
}

/** Throws if the response deviates from the contract: names the route, the status and where it deviates. */
export function requireContract(response: ReceivedResponse): void {
  const faults = responseFaults(response);
  if (faults.length === 0) return;
  const { method, path, status, text } = response;
  const said = text === '' ? '' : `\n  body: ${text.slice(0, 400)}`;
  throw new ContractFault(
    `${method} ${path} answered ${status} off the contract:\n  ${faults.join('\n  ')}${said}`,
  );
}

function isOfProxy({ status, headers }: ReceivedResponse): boolean {
  return STATUSES_OF_PROXIES.includes(status) && !headers.has(headerNames.requestId);
}

function successFaults(route: Route, { headers, text }: ReceivedResponse): readonly string[] {
  // A provider's words pass through.
  if (route.plane === 'inference' && route.method === 'POST') return [];
  const type = headers.get('content-type')?.split(';', 1)[0] ?? null;
  const { schema, contentType = 'application/json', streams } = route.success;
  if (schema === undefined) return text === '' ? [] : [`the body is ${text.slice(0, 80)}, not empty`];
  if (type === 'text/event-stream' && streams === true) return [];
  if (type !== contentType) return [`the content type is ${type}, not ${contentType}`];
  if (type !== 'application/json') return [];
  const body = parsed(text);
  if (body === undefined) return ['the body is not JSON'];
  const found = validatorOf(route)(body);
  const faults = found.ok ? [] : found.issues.map(({ path, message }) => `body.${path}: ${message}`);
  if (found.ok && holdsShownSecret(schema, body as object) && headers.get('cache-control') !== 'no-store')
    faults.push('a cache may store the secret');
  const isOurs = route.plane === 'management' && !WITH_IDS_OF_OTHERS.includes(route.id);
  return isOurs ? [...faults, ...conventionFaults(body, 'body')] : faults;
}

function errorFaults(
  route: Route | null,
  { path, status, headers, text }: ReceivedResponse,
  requestId: string,
): readonly string[] {
  const faults: string[] = [];
  if (headers.get(headerNames.errorSource) !== 'relay') faults.push('the error has no source');
  if (path.startsWith('/api') && headers.get('cache-control') !== 'no-store')
    faults.push('a cache may store the error');
  if (status === 401 && headers.get(headerNames.wwwAuthenticate)?.startsWith('Bearer realm="relay"') !== true)
    faults.push('a 401 does not say how to authenticate');
  const type = headers.get('content-type') ?? '';
  if (type.startsWith('text/html') && route?.errorPage !== undefined) return faults;
  if (type.split(';', 1)[0] !== 'application/json') faults.push(`the content type of the error is ${type}`);
  const body = parsed(text);
  const found = isErrorBody(body);
  if (!found.ok) return [...faults, ...found.issues.map(({ path: at, message }) => `body.${at}: ${message}`)];
  const { error } = body as ErrorBody;
  const code: ErrorCode = error.code;
  if (code === 'internal_error') faults.push('the service has failed: internal_error');
  if (errors[code].status !== status && !STATUSES_OF_HTTP.includes(status))
    faults.push(`${code} has the status ${errors[code].status}`);
  if (route !== null && !route.errors.includes(code)) faults.push(`${code} is not an error of ${route.id}`);
  if (error.request_id !== requestId) faults.push('the error names another request');
  if (!error.doc_url.endsWith(`/docs/errors/${code}`)) faults.push(`doc_url is ${error.doc_url}`);
  return faults;
}

/** IDs that Relay gives are UUIDs of version 7, and times are in UTC with milliseconds, wherever they appear. */
function conventionFaults(value: unknown, path: string, key = ''): readonly string[] {
  if (typeof value === 'string') {
    const isOurId = key === 'id' || (/(?:_id|_uuid)$/.test(key) && UUID.test(value) && key !== OF_CLIENTS);
    if (isOurId && !ID.test(value)) return [`${path} is ${value}, not a UUID of version 7`];
    if (TIME.test(value) && !EXACT_TIME.test(value))
      return [`${path} is ${value}, not a time in UTC with milliseconds`];
    return [];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, item]) => conventionFaults(item, `${path}.${name}`, name));
}

function validatorOf(route: Route): Validator {
  const kept = validators.get(route.id);
  if (kept !== undefined) return kept;
  if (route.success.schema === undefined) throw new Error(`${route.id} has no schema`);
  const made = compileValidator(route.success.schema);
  validators.set(route.id, made);
  return made;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
