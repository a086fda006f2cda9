import { isUtf8 } from 'node:buffer';
import { RelayError } from '../../domain/relay-error.ts';
import type { Operation } from '../../domain/routing/operation.ts';
import { type MemberSpan, scanObject } from '../../kit/json-members.ts';
import type { InferenceBody } from '../exchange.ts';

// Deeper than any request a person or a library writes, shallow enough for every parser behind us.
const DEPTH_MAX = 256;
// More than any operation has fields. Each one costs memory, and a repeated `model` is replaced each time, so that
// a body of nothing else would grow many times over on its way.
const MEMBERS_MAX = 1_000;

/**
 * Up to here a body is parsed as a whole. Past it, parsing would hold up every stream of the process for
 * milliseconds, so only the settings are parsed; of the conversation itself the structure is checked, and what is
 * inside its strings is left to the provider, who reads it anyway.
 */
const PARSED_WHOLE_BYTES_MAX = 64 * 1024;
const SETTING_BYTES_MAX = 4 * 1024;

/** Answers 400: not JSON (`invalid_json`), or a required field missing or of the wrong kind (`invalid_request`). */
export function parseBody(bytes: Buffer, operation: Operation): InferenceBody {
  if (bytes.length === 0) throw invalidJson('The request body is empty.');
  if (!isUtf8(bytes)) throw invalidJson('The request body is not UTF-8.');
  const text = bytes.toString('latin1');
  const spans = scanObject(text, DEPTH_MAX, MEMBERS_MAX);
  if (spans === 'not_an_object') throw invalidJson('The request body is not a JSON object.');
  if (spans === 'too_deep') throw invalidJson(`The request body nests deeper than ${DEPTH_MAX} levels.`);
  if (spans === 'too_many') {
    throw invalidField(null, `The request body has more than ${MEMBERS_MAX} fields. Send fewer.`);
  }
  if (spans === 'broken') throw invalidJson('The request body is not valid JSON.');

  // The whole is checked as JSON even where only some of it is kept.
  const settings = bytes.length <= PARSED_WHOLE_BYTES_MAX ? parse(text) : parseSettings(text, spans.members);
  const model = decodedString(bytes, spans.members, 'model');
  if (model === '') {
    throw invalidField(
      'model',
      'model must be a non-empty string: a lane or a model that GET /v1/models lists.',
    );
  }
  const contentName = operation === 'chat' ? 'messages' : 'input';
  const content = spans.members.findLast(({ name }) => name === contentName);
  if (operation === 'chat') checkMessages(settings['messages'], content, text);
  else checkInput(content, text);

  const streaming = operation !== 'embeddings' && settings['stream'] === true;
  return {
    bytes,
    settings,
    members: spans.members,
    model,
    streaming,
    wantsUsageFrame: streaming && asksForUsage(settings['stream_options']),
    closing: spans.closing,
  };
}

/** Every member that is small enough to be a setting; the last of duplicates counts, as for `JSON.parse`. */
function parseSettings(text: string, members: readonly MemberSpan[]): Record<string, unknown> {
  const settings: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const { name, start, end } of members) {
    // The options of the stream are taken apart later, whatever their size.
    const isSetting = end - start <= SETTING_BYTES_MAX || name === 'stream_options';
    if (isSetting) settings[name] = parse(text.slice(start, end));
    else delete settings[name];
  }
  return settings;
}

/** The text is Latin-1, so whatever is not ASCII inside is not meant to be read; the structure is the same. */
function parse(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch (cause) {
    throw invalidJson('The request body is not valid JSON.', cause);
  }
}

/** The member's value in its real encoding; empty when it is not a string. */
function decodedString(bytes: Buffer, members: readonly MemberSpan[], wanted: string): string {
  const span = members.findLast(({ name }) => name === wanted);
  if (span === undefined || bytes[span.start] !== 0x22) return '';
  return String(parse(bytes.toString('utf8', span.start, span.end)));
}

function asksForUsage(streamOptions: unknown): boolean {
  return (
    typeof streamOptions === 'object' &&
    streamOptions !== null &&
    (streamOptions as Record<string, unknown>)['include_usage'] === true
  );
}

function checkMessages(parsed: unknown, span: MemberSpan | undefined, text: string): void {
  if (span === undefined || !/^\[\s*[^\s\]]/.test(text.slice(span.start, span.start + 64))) {
    throw invalidField('messages', 'messages must be a non-empty array of objects with role and content.');
  }
  if (!Array.isArray(parsed)) return;
  for (const [index, message] of parsed.entries()) {
    const wellFormed =
      typeof message === 'object' &&
      message !== null &&
      typeof (message as Record<string, unknown>)['role'] === 'string';
    if (!wellFormed) {
      throw invalidField(
        `messages[${index}].role`,
        `messages[${index}] must be an object with a role (string).`,
      );
    }
  }
}

function checkInput(span: MemberSpan | undefined, text: string): void {
  const first = span === undefined ? '' : text[span.start];
  if (first !== '"' && first !== '[') throw invalidField('input', 'input must be a string or an array.');
}

function invalidJson(what: string, cause?: unknown): RelayError {
  return new RelayError('invalid_json', {
    message: `${what} Send one JSON object, uncompressed, with Content-Type: application/json.`,
    cause,
  });
}

function invalidField(param: string | null, message: string): RelayError {
  return new RelayError('invalid_request', { message, param });
}
