import { isUtf8 } from 'node:buffer';
import { countWords, sizeWords } from '@relay/contract/words';
import { RelayError } from '../domain/relay-error.ts';
import { BUILT_VALUES_MAX, type MemberSpan, scanObject, scanSteps, valuesIn } from '../kit/json-members.ts';
import { parseKeeping, type SourceShape } from '../kit/json-source.ts';
import { objectOf } from '../kit/json-value.ts';
import { type Steps, stepsOver } from '../kit/slices.ts';
import { type MediaRules, mediaMeter } from './media-meter.ts';

/** A parsed request, or the members of a large one that are small enough to be settings. */
export type RequestSettings = Readonly<Record<string, unknown>>;

/** A request as far as an estimate needs it. */
export interface MeasuredBody {
  /** Where each member of the top level lies, in the order of the text. */
  readonly members: readonly MemberSpan[];
  /** Text in them is not decoded. Members of a large body that are not settings are absent. */
  readonly settings: RequestSettings;
  /** Values of members that are there again later; left out: none. A parser takes the first or the last; settings have the last. */
  readonly overwritten?: readonly OverwrittenSetting[];
}

export interface OverwrittenSetting {
  readonly name: string;
  readonly value: unknown;
}

export interface BodyWithBytes extends MeasuredBody {
  readonly bytes: Buffer;
}

/** What the client sent, read once: the bytes as they came, and what Relay must know of them. */
export interface InferenceBody extends BodyWithBytes {
  readonly model: string;
  readonly streaming: boolean;
  /** The client asked for usage in the stream itself. */
  readonly wantsUsageFrame: boolean;
  /** Position of the object's closing brace. */
  readonly closing: number;
}

/** What differs between protocols whose request is a JSON object with a member `model`. */
export interface BodyRules {
  readonly media: MediaRules;
  /** A setting that is parsed even if it is large, because Relay changes it. */
  readonly changedSetting: string | null;
  /** Throws 400 when the conversation is missing or of the wrong kind. */
  checkContent(members: readonly MemberSpan[], settings: RequestSettings, bytes: Buffer): void;
  isStreaming(settings: RequestSettings): boolean;
  wantsUsageFrame(settings: RequestSettings): boolean;
}

// Deeper than any request a person or a library writes, shallow enough for the parsers of providers.
const DEPTH_MAX = 256;
// More than any protocol has fields. Each one costs memory, and a repeated `model` is replaced each time, so that
// a body of nothing else would grow many times over.
const MEMBERS_MAX = 1_000;

/**
 * Up to this size a body is parsed completely. Parsing a larger one would block every stream of the process for milliseconds,
 * so Relay parses its settings, checks the structure of the rest, and leaves the inside of strings to the provider.
 */
const PARSED_WHOLE_BYTES_MAX = 64 * 1024;
const SETTING_BYTES_MAX = 4 * 1024;
/** What is checked for UTF-8 between two pauses. */
const TEXT_STEP_BYTES = 1024 * 1024;
/** A setting that Relay changes has to be parsed; it has a few members. */
const CHANGED_BYTES_MAX = 64 * 1024;

/** A translation parses and writes the whole request in one go, and other requests wait meanwhile. */
export const PARSED_BYTES_MAX = 8 * 1024 * 1024;

/** Whether building the request's values would hold up other requests for too long. */
export function isTooLargeToParse(members: readonly MemberSpan[]): boolean {
  const bytes = members.reduce((sum, { start, end }) => sum + end - start, 0);
  return bytes > PARSED_BYTES_MAX || valuesIn(members) > BUILT_VALUES_MAX;
}

/** Throws 400: `invalid_json`, or `invalid_request` when a required field is missing or of the wrong kind. */
export function* readRequestBody(bytes: Buffer, rules: BodyRules): Steps<InferenceBody> {
  if (bytes.length === 0) throw invalidJson('The request body is empty.');
  const isText = bytes.length <= TEXT_STEP_BYTES ? isUtf8(bytes) : yield* isUtf8InSteps(bytes);
  if (!isText) throw invalidJson('The request body is not UTF-8.');
  const spans = yield* scanSteps(bytes, DEPTH_MAX, MEMBERS_MAX, mediaMeter(bytes, rules.media));
  if (spans === 'not_an_object') throw invalidJson('The request body is not a JSON object.');
  if (spans === 'too_deep') throw invalidJson(`The request body nests deeper than ${DEPTH_MAX} levels.`);
  if (spans === 'too_many') {
    throw invalidField(null, `The request body has more than ${countWords(MEMBERS_MAX)} fields. Send fewer.`);
  }
  if (spans === 'broken') throw invalidJson('The request body is not valid JSON.');

  const settings =
    bytes.length <= PARSED_WHOLE_BYTES_MAX
      ? objectOf(parse(bytes, 0, bytes.length))
      : yield* parseSettings(bytes, spans.members, rules.changedSetting);
  const model = decodedString(bytes, spans.members, 'model');
  if (model === '') {
    throw invalidField(
      'model',
      'model must be a non-empty string: a lane or a model that GET /v1/models lists.',
    );
  }
  rules.checkContent(spans.members, settings, bytes);
  const streaming = rules.isStreaming(settings);
  return {
    bytes,
    settings,
    overwritten: overwrittenIn(bytes, spans.members),
    members: spans.members,
    model,
    streaming,
    wantsUsageFrame: streaming && rules.wantsUsageFrame(settings),
    closing: spans.closing,
  };
}

function* isUtf8InSteps(bytes: Buffer): Steps<boolean> {
  let start = 0;
  while (bytes.length - start > TEXT_STEP_BYTES) {
    let end = start + TEXT_STEP_BYTES;
    // A character has at most three bytes after its first, and belongs to one step.
    for (let back = 0; back < 3 && isContinuation(bytes[end]); back += 1) end -= 1;
    if (!isUtf8(bytes.subarray(start, end))) return false;
    start = end;
    yield;
  }
  return isUtf8(bytes.subarray(start));
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x80 && byte < 0xc0;
}

/** Measures a request that is already parsed, as if its text had been sent. Null when it nests too deep. */
export function measureRequest(request: RequestSettings, { media }: BodyRules): BodyWithBytes | null {
  const bytes = Buffer.from(writeJson(request));
  const spans = scanObject(bytes, DEPTH_MAX, Number.POSITIVE_INFINITY, mediaMeter(bytes, media));
  return typeof spans === 'string' ? null : { members: spans.members, settings: request, bytes };
}

export function invalidField(param: string | null, message: string): RelayError {
  return new RelayError('invalid_request', { message, param });
}

/** Every member that is small enough to be a setting; of duplicates the last one counts, as for `JSON.parse`. */
function* parseSettings(
  bytes: Buffer,
  members: readonly MemberSpan[],
  changedSetting: string | null,
): Steps<RequestSettings> {
  const settings: Record<string, unknown> = { __proto__: null };
  yield* stepsOver(members, ({ name, start, end }) => {
    const bytesMax = name === changedSetting ? CHANGED_BYTES_MAX : SETTING_BYTES_MAX;
    if (end - start <= bytesMax) settings[name] = parse(bytes, start, end);
    else if (name === changedSetting)
      throw invalidField(name, `${name} is larger than ${sizeWords(bytesMax)}.`);
    else delete settings[name];
  });
  return settings;
}

function overwrittenIn(bytes: Buffer, members: readonly MemberSpan[]): readonly OverwrittenSetting[] {
  const last = new Map(members.map((member) => [member.name, member]));
  if (last.size === members.length) return [];
  return members
    .filter((member) => last.get(member.name) !== member && member.end - member.start <= SETTING_BYTES_MAX)
    .map(({ name, start, end }) => ({ name, value: parse(bytes, start, end) }));
}

/** The whole request in its real encoding, with `sources` as they came. Of a large one only the structure was checked before. Throws 400 `invalid_json`. */
export function parseWhole(bytes: Buffer, sources: SourceShape): unknown {
  return parseText(bytes.toString('utf8'), sources);
}

/** Decoded as Latin-1, which is quicker. Characters outside ASCII come out wrong; the structure is the same. */
function parse(bytes: Buffer, start: number, end: number): unknown {
  return parseText(bytes.toString('latin1', start, end));
}

function parseText(text: string, sources?: SourceShape): unknown {
  try {
    return sources === undefined ? JSON.parse(text) : parseKeeping(text, sources);
  } catch (cause) {
    throw invalidJson('The request body is not valid JSON.', cause);
  }
}

/** The member's value in its real encoding; empty when it is not a string. */
function decodedString(bytes: Buffer, members: readonly MemberSpan[], wanted: string): string {
  const span = members.findLast(({ name }) => name === wanted);
  if (span === undefined || bytes[span.start] !== 0x22) return '';
  return String(parseText(bytes.toString('utf8', span.start, span.end)));
}

/** Empty for a request so deep that writing it exhausts the stack; the scan then rejects the empty text. */
function writeJson(request: RequestSettings): string {
  try {
    return JSON.stringify(request);
  } catch (error) {
    if (error instanceof RangeError) return '';
    throw error;
  }
}

function invalidJson(what: string, cause?: unknown): RelayError {
  return new RelayError('invalid_json', {
    message: `${what} Send one JSON object, uncompressed, with Content-Type: application/json.`,
    cause,
  });
}
