import { isUtf8 } from 'node:buffer';
import type { Operation } from '../../domain/operation.ts';
import { RelayError } from '../../domain/relay-error.ts';
import { scanObject } from '../../kit/json-members.ts';
import type { InferenceBody } from '../exchange.ts';

// Deeper than any request a person or a library writes, shallow enough for every parser behind us.
const DEPTH_MAX = 256;

const SPLICED = new Set(['model', 'stream_options']);

/** Answers 400: not JSON (`invalid_json`), or a required field missing or of the wrong kind (`invalid_request`). */
export function parseBody(bytes: Buffer, operation: Operation): InferenceBody {
  if (bytes.length === 0) throw invalidJson('The request body is empty.');
  if (!isUtf8(bytes)) throw invalidJson('The request body is not UTF-8.');
  const latin1 = bytes.toString('latin1');
  const spans = scanObject(latin1, SPLICED, DEPTH_MAX);
  if (spans === 'not_an_object') throw invalidJson('The request body is not a JSON object.');
  if (spans === 'too_deep') throw invalidJson(`The request body nests deeper than ${DEPTH_MAX} levels.`);
  if (spans === 'broken') throw invalidJson('The request body is not valid JSON.');

  const fields = parseFields(bytes);
  const model = fields['model'];
  if (typeof model !== 'string' || model === '') {
    throw invalidField(
      'model',
      'model must be a non-empty string: a lane or a model that GET /v1/models lists.',
    );
  }
  if (operation === 'chat') checkMessages(fields['messages']);
  else checkInput(fields['input']);

  const streaming = operation !== 'embeddings' && fields['stream'] === true;
  return {
    bytes,
    fields,
    model,
    streaming,
    wantsUsageFrame: streaming && asksForUsage(fields['stream_options']),
    spans: spans.members,
    closing: spans.closing,
  };
}

function parseFields(bytes: Buffer): Record<string, unknown> {
  try {
    return JSON.parse(bytes.toString('utf8')) as Record<string, unknown>;
  } catch (cause) {
    throw invalidJson('The request body is not valid JSON.', cause);
  }
}

function asksForUsage(streamOptions: unknown): boolean {
  return (
    typeof streamOptions === 'object' &&
    streamOptions !== null &&
    (streamOptions as Record<string, unknown>)['include_usage'] === true
  );
}

function checkMessages(messages: unknown): void {
  if (!Array.isArray(messages) || messages.length === 0) {
    throw invalidField('messages', 'messages must be a non-empty array of objects with role and content.');
  }
  for (const [index, message] of messages.entries()) {
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

function checkInput(input: unknown): void {
  if (typeof input === 'string' || Array.isArray(input)) return;
  throw invalidField('input', 'input must be a string or an array.');
}

function invalidJson(what: string, cause?: unknown): RelayError {
  return new RelayError('invalid_json', {
    message: `${what} Send one JSON object, uncompressed, with Content-Type: application/json.`,
    cause,
  });
}

function invalidField(param: string, message: string): RelayError {
  return new RelayError('invalid_request', { message, param });
}
