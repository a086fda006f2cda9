import { allRoutes, compileValidator, ErrorBody, errors, type Route, type Validator } from '@relay/contract';
import type { Answer } from './ask.ts';
import type { Operation } from './document.ts';

export type FindingKind = 'crash' | 'off_contract' | 'five_xx';

export interface Verdict {
  readonly kind: FindingKind;
  readonly why: string;
}

const isErrorBody = compileValidator(ErrorBody);
const successes = new Map<string, Validator | null>();

/** What is wrong with an answer by the published document; null when nothing is. */
export function judge(operation: Operation, answer: Answer): Verdict | null {
  const { status } = answer;
  if (status === 0) return offContract('the connection closed without an answer');
  if (isUpstreams(answer)) {
    return operation.path.startsWith('/v1/')
      ? null
      : offContract(`a provider's ${status} on a management route`);
  }
  if (!operation.statuses.includes(status)) {
    return {
      kind: status >= 500 ? 'five_xx' : 'off_contract',
      why: `status ${status} is not in the document${shown(answer)}`,
    };
  }
  if (isHealthReport(operation)) return null;
  if (status >= 400) return judgeError(answer, operation);
  return judgeSuccess(operation, answer);
}

/** An error of Relay's own: in the table, with the status of its code, about this request. */
export function judgeError(answer: Answer, operation: Operation | null): Verdict | null {
  const { status, headers } = answer;
  if (String(headers['content-type']).startsWith('text/html') && hasErrorPage(operation)) return null;
  const body = parsed(answer);
  if (body === undefined) return offContract(`a ${status} that is not JSON${shown(answer)}`);
  if (!isErrorBody(body).ok)
    return {
      kind: status >= 500 ? 'five_xx' : 'off_contract',
      why: `a ${status} without an error body${shown(answer)}`,
    };
  const { error } = body as ErrorBody;
  if (error.code === 'internal_error') return { kind: 'crash', why: `internal_error${shown(answer)}` };
  const known = errors[error.code];
  // What HTTP itself forbids has statuses of its own: 417, 431.
  if (operation !== null && known.status !== status)
    return offContract(`${error.code} with status ${status}`);
  if (operation !== null && !operation.codes.includes(error.code)) {
    const kind = status >= 500 ? 'five_xx' : 'off_contract';
    return { kind, why: `${error.code} is not among the errors of ${operation.id}${shown(answer)}` };
  }
  if (error.request_id !== headers['x-request-id']) return offContract('the error names another request');
  if (!error.doc_url.endsWith(`/docs/errors/${error.code}`))
    return offContract(`doc_url is ${error.doc_url}`);
  return null;
}

function judgeSuccess(operation: Operation, answer: Answer): Verdict | null {
  const { status, headers, body, whole } = answer;
  const type = String(headers['content-type'] ?? '').split(';', 1)[0] ?? '';
  const allowed = operation.contentTypes[status] ?? [];
  if (allowed.length === 0) return body.length === 0 ? null : offContract(`a ${status} with a body`);
  if (!allowed.includes(type)) return offContract(`a ${status} of the type ${type}`);
  if (type !== 'application/json') return null;
  if (!whole) return offContract('a cut answer');
  const value = parsed(answer);
  if (value === undefined) return offContract(`a ${status} that is not JSON${shown(answer)}`);
  const found = validatorOf(operation)?.(value);
  if (found === undefined || found.ok) return null;
  return offContract(`a ${status} off its schema: ${found.issues[0]?.message}${shown(answer)}`);
}

/** The schemas of the contract, from which the document is generated. */
function validatorOf(operation: Operation): Validator | null {
  const kept = successes.get(operation.id);
  if (kept !== undefined) return kept;
  const schema = routeOf(operation)?.success.schema;
  const made = schema === undefined ? null : compileValidator(schema);
  successes.set(operation.id, made);
  return made;
}

/** Readiness answers 503 with the same body as 200. */
function isHealthReport({ path }: Operation): boolean {
  return path === '/livez' || path === '/readyz' || path === '/healthz';
}

function hasErrorPage(operation: Operation | null): boolean {
  return operation !== null && routeOf(operation)?.errorPage !== undefined;
}

function routeOf({ id }: Operation): Route | undefined {
  return allRoutes.find((route) => route.id === id);
}

function isUpstreams({ headers }: Answer): boolean {
  return headers['x-relay-error-source'] === 'upstream';
}

function parsed({ body }: Answer): unknown {
  try {
    return JSON.parse(body.toString()) as unknown;
  } catch {
    return undefined;
  }
}

export function offContract(why: string): Verdict {
  return { kind: 'off_contract', why };
}

export function shown({ body }: Answer): string {
  return `: ${body.toString('utf8', 0, 300)}`;
}
