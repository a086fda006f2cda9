import { type ErrorCode, type RouteId, routes } from '@relay/contract';
import type { Answer, Caller } from './answer.ts';
import { error as errorFields } from './fields/shared.ts';
import { routeOf } from './route-of.ts';
import type { Secrets } from './secrets.ts';
import { answerIn, type Mode } from './served.ts';
import { id, nothing, type Shape } from './shape.ts';

export interface Sending {
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is, instead of a body. */
  readonly raw?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The API as plain `fetch` sees it. The walk records every fault and continues. */
export interface Walk {
  readonly mode: Mode;
  readonly url: string;
  readonly secrets: Secrets;
  /** Everything that was asked and answered, in order. */
  readonly answers: readonly Answer[];
  fault(text: string): void;
  /** The faults since the last call, each once. */
  takeFaults(): string[];
  /** Sends `line`, such as `GET /api/account`; checks what holds of every answer. */
  send(caller: Caller, line: string, sending?: Sending): Promise<Answer>;
  /** Sends and demands this answer, or what the mode makes of it; a body of the usual answer has this shape. */
  expect(caller: Caller, line: string, usual: string, shape: Shape, sending?: Sending): Promise<Answer>;
}

export function createWalk(setup: { mode: Mode; url: string; secrets: Secrets }): Walk {
  const { mode, url, secrets } = setup;
  const answers: Answer[] = [];
  const faults = new Set<string>();
  const fault = (text: string) => void faults.add(`${mode.name}: ${text}`);

  const send: Walk['send'] = async (caller, line, sending = {}) => {
    const [method = '', path = ''] = line.split(' ');
    const body = sending.raw ?? (sending.body === undefined ? null : JSON.stringify(sending.body));
    const response = await fetch(url + path, {
      method,
      redirect: 'manual',
      headers: {
        accept: 'application/json',
        ...(body === null ? {} : { 'content-type': 'application/json' }),
        ...caller.headers,
        ...sending.headers,
      },
      body,
    });
    const answer = await answerOf(caller, line, response);
    answers.push(answer);
    for (const text of faultsOf(answer, url)) fault(`${line}: ${text}`);
    return answer;
  };

  return {
    mode,
    url,
    secrets,
    answers,
    fault,
    takeFaults() {
      const taken = [...faults];
      faults.clear();
      return taken;
    },
    send,
    async expect(caller, line, usual, shape, sending) {
      const answer = await send(caller, line, sending);
      const expected = answer.route === null ? usual : answerIn(mode, answer.route, usual);
      if (answer.summary !== expected)
        fault(`${line} is ${answer.summary} instead of ${expected}: ${answer.text.slice(0, 300)}`);
      else if (expected === usual && answer.status < 400)
        for (const text of shape(answer.body, 'body')) fault(`${line}: ${text}`);
      return answer;
    },
  };
}

async function answerOf(caller: Caller, line: string, response: Response): Promise<Answer> {
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  // A tail has no end to wait for.
  if (isStream) await response.body?.cancel();
  const text = isStream ? '' : await response.text();
  const body = parsed(text);
  const { status, headers } = response;
  const code = (body as { error?: { code?: unknown } } | null)?.error?.code;
  return {
    line,
    route: routeOf(line),
    caller,
    status,
    summary: status < 400 ? String(status) : `${status} ${String(code)}`,
    headers,
    body,
    text,
    requestId: headers.get('x-request-id') ?? '',
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

const contentTypes: Partial<Record<RouteId, string>> = {
  streamRequests: 'text/event-stream',
  exportRequests: 'text/csv',
  exportShowback: 'text/csv',
};

/** What is wrong with an answer, whatever was asked. */
function faultsOf({ status, headers, body, requestId, route }: Answer, url: string): readonly string[] {
  const found = [...id(requestId, 'x-request-id')];
  const contentType = headers.get('content-type');
  if (status === 204 || status === 302) {
    if (contentType !== null) found.push(`an answer without a body is ${contentType}`);
    return [...found, ...nothing(body, 'body')];
  }
  const wanted = (status < 400 && route !== null ? contentTypes[route] : undefined) ?? 'application/json';
  if (contentType?.split(';')[0] !== wanted) found.push(`the content type is ${contentType}`);
  if (status < 400) return found;
  if (status >= 500 && status !== 501) found.push(`the service has failed with ${status}`);
  if (headers.get('x-relay-error-source') !== 'relay') found.push('nobody owns the error');
  if (headers.get('cache-control') !== 'no-store') found.push('an error may be cached');
  found.push(...errorFields(body, 'body'));
  const { error } = body as { error?: Record<string, unknown> };
  if (error?.['request_id'] !== requestId) found.push('the error names another request');
  const page = `${url}/docs/errors/${String(error?.['code'])}`;
  if (error?.['doc_url'] !== page) found.push(`doc_url is ${String(error?.['doc_url'])}`);
  if (route !== null && !routes[route].errors.includes(error?.['code'] as ErrorCode))
    found.push(`the contract says nothing of ${String(error?.['code'])}`);
  return found;
}
