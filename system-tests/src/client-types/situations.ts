import type { Fault } from '@relay/provider-sim';
import { chatFrames, chatWhole } from './chat-provider.ts';
import type { Wire } from './directions.ts';
import { messagesFrames, messagesWhole } from './messages-provider.ts';
import type { ModelAnswer } from './model-answers.ts';
import { responsesFrames, responsesWhole } from './responses-provider.ts';

/** What the provider does with one request. */
export interface Situation {
  readonly name: string;
  fault(provider: Wire, stream: boolean): Fault;
  /** Only a request of this kind; both unless given. */
  readonly stream?: boolean;
  /** The provider does not keep to its own protocol: what is passed through is then not judged. */
  readonly foreign?: true;
}

const wholes = { chat: chatWhole, responses: responsesWhole, messages: messagesWhole };
const frames = { chat: chatFrames, responses: responsesFrames, messages: messagesFrames };

export function answered(answer: ModelAnswer, name: string): Situation {
  return { name, fault: (provider, stream) => faultOf(answer, provider, stream) };
}

function faultOf(answer: ModelAnswer, provider: Wire, stream: boolean): Fault {
  return stream ? { rawFrames: frames[provider](answer) } : { body: wholes[provider](answer) };
}

/** The stream ends after each of its frames: cut, ended without its end, with an error in place of the rest. */
export function broken(answer: ModelAnswer, name: string): Situation[] {
  const count = Math.max(...Object.values(frames).map((each) => each(answer).length));
  return Array.from({ length: count }, (_, after) => after).flatMap((after) => [
    {
      name: `${name}, cut after ${after}`,
      stream: true,
      fault: (provider) => ({ rawFrames: frames[provider](answer), cutAfterFrames: after }),
    },
    {
      name: `${name}, ended after ${after}`,
      stream: true,
      fault: (provider) => ({ rawFrames: frames[provider](answer).slice(0, after) }),
    },
    {
      name: `${name}, error after ${after}`,
      stream: true,
      fault: (provider) => ({
        rawFrames: [...frames[provider](answer).slice(0, after), errorFrames[provider]],
      }),
    },
  ]);
}

const overloaded = { type: 'overloaded_error', message: 'Overloaded' };
const errorFrames: Readonly<Record<Wire, string>> = {
  chat: `data: ${JSON.stringify({ error: { message: 'The server had an error.', type: 'server_error', param: null, code: null } })}\n\n`,
  responses: `event: error\ndata: ${JSON.stringify({ type: 'error', sequence_number: 9, code: 'server_error', message: 'The server had an error.', param: null })}\n\n`,
  messages: `event: error\ndata: ${JSON.stringify({ type: 'error', error: overloaded, request_id: null })}\n\n`,
};

const STATUSES = [400, 403, 404, 409, 413, 422, 429, 500, 502, 503, 504, 529];
const TYPES: Readonly<Record<number, string>> = {
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

export function errors(): Situation[] {
  const said = ['It is wrong.', 'prompt is too long: 210000 tokens > 200000 maximum'];
  const own = STATUSES.flatMap((status) =>
    said.map(
      (message): Situation => ({
        name: `${status} ${message}`,
        fault: (provider) => ({ status, body: ownError(provider, status, message) }),
      }),
    ),
  );
  const strange = STATUSES.flatMap((status) =>
    foreignBodies(status).map(
      ([name, body]): Situation => ({
        name: `${status} ${name}`,
        foreign: true,
        fault: () => ({ status, ...body }),
      }),
    ),
  );
  return [...own, ...strange, ...broken200];
}

function ownError(provider: Wire, status: number, message: string): object {
  if (provider !== 'messages')
    return { error: { message, type: 'invalid_request_error', param: null, code: null } };
  const type = TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
  return { type: 'error', error: { type, message }, request_id: 'req_sim' };
}

/** Errors that are no protocol's: https://ai.google.dev, vLLM, FastAPI, proxies. */
function foreignBodies(status: number): readonly (readonly [string, Fault])[] {
  return [
    ['of Gemini', { body: [{ error: { code: status, message: 'Not so.', status: 'INVALID_ARGUMENT' } }] }],
    [
      'of vLLM',
      { body: { object: 'error', message: 'Not so.', type: 'BadRequestError', param: null, code: status } },
    ],
    [
      'of FastAPI',
      { body: { detail: [{ loc: ['body', 'model'], msg: 'field required', type: 'missing' }] } },
    ],
    ['of FastAPI in one text', { body: { detail: 'Not Found' } }],
    ['of TGI', { body: { error: 'Input validation error', error_type: 'validation' } }],
    [
      'of OpenRouter',
      { body: { error: { message: 'Provider returned error', code: status, metadata: {} } } },
    ],
    ['with a page', { html200: true, status }],
    ['with a text', { body: 'upstream connect error', contentType: 'text/plain' }],
    ['with an error of null', { body: { error: null } }],
    ['with a list', { body: [1, 2] }],
    ['with a body that is no text', { bodyBase64: 'AP//gA==', contentType: 'application/octet-stream' }],
    ['without a body', { emptyBody: true }],
  ];
}

/** A 200 without an answer. */
const broken200: readonly Situation[] = [
  ['a page', { html200: true }],
  ['nothing', { emptyBody: true }],
  ['an empty object', { body: {} }],
  ['a list', { body: [] }],
  ['no choices', { body: { id: 'x', object: 'chat.completion', choices: [] } }],
  ['an error', { body: { error: { message: 'Provider returned error', code: 502 } } }],
  ['half a body', { malformedJson: true }],
  ['an empty stream', { rawFrames: [] }],
  ['a stream of comments', { rawFrames: [': OPENROUTER PROCESSING\n\n'] }],
  ['a stream with other data', { rawFrames: ['data: hello\n\n'] }],
  ['no head', { cutBeforeHeaders: true }],
].map(([name, fault]) => ({
  name: `200 with ${String(name)}`,
  foreign: true,
  fault: () => fault as Fault,
}));
