import { isEmpty, isObject, type JsonObject, listOf, objectOf } from '../../kit/json-value.ts';
import { type Failure, shortened } from './failure.ts';

/** In characters, of an error that has none of the shapes below. */
const UNKNOWN_LENGTH_MAX = 1_000;
const STATUS_MIN = 400;
const STATUS_MAX = 599;
/** What a provider reports in a 200 failed like any other error of a gateway, unless it says how. */
export const REPORTED_STATUS = 502;
/** Members with the content of an answer, in any protocol. */
const CONTENT_MEMBERS = ['choices', 'output', 'content', 'data', 'input_tokens'] as const;

/**
 * What a provider's error body says, whatever wrote it: the provider, the server in front of its model, or a proxy on the way. What has
 * no known shape becomes the message.
 */
export function failureOfBody(text: string, status: number): Failure {
  const body = parsed(text);
  return (
    statedFailure(Array.isArray(body) ? body[0] : body) ??
    detailFailure(body) ??
    detailFailure(objectOf(body)['message']) ??
    ownFailure(shownText(body === undefined ? text : (textIn(body) ?? text)), status)
  );
}

/**
 * The error that a body or a frame reports; null when it reports none. OpenAI, Anthropic, Gemini and OpenRouter have an object, Ollama
 * and TGI a text, vLLM the members of the object themselves.
 */
export function statedFailure(body: unknown): Failure | null {
  if (!isObject(body)) return null;
  const { error } = body;
  if (typeof error === 'string' && error !== '') return { message: error, type: null };
  if (isObject(error)) return failureOfObject(error);
  return body['object'] === 'error' || (body['type'] === 'error' && error === undefined)
    ? failureOfObject(body)
    : null;
}

/**
 * The status that a 200 with this body should have had: an error, and nothing that could be an answer. Null for an answer, and for a
 * response object, which says by itself that it failed.
 */
export function statusOfError(body: JsonObject): number | null {
  if (body['object'] === 'response' || CONTENT_MEMBERS.some((name) => !isEmpty(body[name]))) return null;
  const failure = statedFailure(body);
  return failure === null && !isObject(body['error']) ? null : (failure?.status ?? REPORTED_STATUS);
}

function failureOfObject(error: JsonObject): Failure | null {
  const { message, type, code, param } = error;
  if (typeof message !== 'string') return null;
  const status = [error['status'], code].find(isStatus);
  return {
    message: withCause(message, error),
    type: type === 'error' ? null : (textOf(type) ?? textOf(code)),
    ...(textOf(code) === null ? {} : { code: textOf(code) }),
    ...(textOf(param) === null ? {} : { param: textOf(param) }),
    ...(status === undefined ? {} : { status: Number(status) }),
  };
}

/** A router's message may only say that the provider failed; what the provider said stands beside it. */
function withCause(message: string, error: JsonObject): string {
  const cause = textOf(objectOf(error['metadata'])['raw']);
  return cause === null ? message : `${message}: ${shortened(cause, UNKNOWN_LENGTH_MAX)}`;
}

/** FastAPI says what is wrong with which field. */
function detailFailure(body: unknown): Failure | null {
  const { detail } = objectOf(body);
  if (typeof detail === 'string' && detail !== '') return { message: detail, type: null };
  if (isObject(detail)) return statedFailure({ error: detail });
  const faults = listOf(detail).flatMap((each) => {
    const { loc, msg } = objectOf(each);
    return typeof msg === 'string' ? [`${listOf(loc).map(String).join('.')}: ${msg}`] : [];
  });
  if (faults.length === 0) return null;
  return { message: shortened(faults.join('; '), UNKNOWN_LENGTH_MAX), type: null };
}

function ownFailure(text: string, status: number): Failure {
  const message = text === '' ? `The provider responded with status ${status} and no message.` : text;
  return { message: shortened(message, UNKNOWN_LENGTH_MAX), type: null };
}

/** Where services that are no model providers have their message. */
function textIn(body: unknown): string | null {
  const { message, Message, msg, error } = objectOf(body);
  const given = objectOf(error);
  return textOf(message) ?? textOf(Message) ?? textOf(msg) ?? textOf(given['msg']) ?? textOf(given['detail']);
}

/** A page's tags say nothing. */
function shownText(text: string): string {
  const isPage = /^\s*</.test(text);
  const shown = isPage ? text.replaceAll(/<(script|style)\b.*?<\/\1>|<[^>]*>/gis, ' ') : text;
  return shown.replaceAll(/[\s\p{Cc}\u{FFFD}]+/gu, ' ').trim();
}

/** Undefined for text that is not JSON. A stream may have the error in a frame. */
function parsed(text: string): unknown {
  for (const json of [text, /^data: ?(.*)$/m.exec(text)?.[1] ?? ''])
    try {
      return JSON.parse(json) as unknown;
    } catch {
      // The next one may be JSON.
    }
  return undefined;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function isStatus(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= STATUS_MIN && Number(value) <= STATUS_MAX;
}
