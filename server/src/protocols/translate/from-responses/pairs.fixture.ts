import { isDeepStrictEqual } from 'node:util';
import { writeJson } from '../../../kit/json-source.ts';
import { isObject } from '../../../kit/json-value.ts';
import type { GeneratedPair } from '../checks/generated-pair.fixture.ts';
import { responsesToChat } from '../responses-to-chat/index.ts';
import { responsesToMessages } from '../responses-to-messages/index.ts';
import { chatProblems } from '../schemas/chat.fixture.ts';
import { messagesProblems } from '../schemas/messages.fixture.ts';
import type { Shape } from '../schemas/shape.fixture.ts';
import type { TranslatedRequest, Translation } from '../translation.ts';
import { generatedRequest } from './generated-requests.fixture.ts';

type Step = string | number;

/** A member that can be taken out or changed. */
interface Member {
  readonly path: string;
  /** Without indices: `input[].id`. */
  readonly kind: string;
  readonly value: unknown;
  readonly steps: readonly Step[];
}

export const responsesPairs: readonly GeneratedPair[] = [
  pairOf(responsesToChat, chatProblems),
  pairOf(responsesToMessages, messagesProblems),
];

function pairOf(translation: Translation, problemsOf: Shape): GeneratedPair {
  return {
    translation,
    requests: generatedRequest,
    refusedShareMax: 0.25,
    problemsOf,
    unnamedIn: (request, translated) => unnamedIn(translation, request, translated),
  };
}

/** Members that can be taken out or changed without changing what the provider gets. */
function unnamedIn(translation: Translation, request: unknown, all: TranslatedRequest): readonly string[] {
  const same = writeJson(all);
  const unnoticed = (changed: unknown): boolean =>
    writeJson(translation.request(changed, 'upstream', { maker: 'maker' })) === same;
  return members(request, [])
    .filter(({ path }) => !all.leftOut.some((left) => isWithin(path, left) || isWithin(left, path)))
    .filter(
      (member) =>
        (!saysNothing(translation, request, member) && unnoticed(changed(request, member.steps, []))) ||
        (member.kind !== 'model' &&
          typeof member.value === 'string' &&
          unnoticed(changed(request, member.steps, [`~${member.value}`]))),
    )
    .map(({ path, value }) => `${path}=${JSON.stringify(value)}`);
}

function isWithin(path: string, outer: string): boolean {
  return path.startsWith(outer) && (path.length === outer.length || '.['.includes(path.charAt(outer.length)));
}

/** Every member of the request. What a schema says inside is not ours to read. */
function members(value: unknown, steps: readonly Step[]): readonly Member[] {
  if (Array.isArray(value)) return value.flatMap((item: unknown, index) => members(item, [...steps, index]));
  if (!isObject(value)) return [];
  return Object.keys(value).flatMap((name) => {
    const path = [...steps, name];
    const opaque = name === 'parameters' || name === 'schema' || name === 'output_schema';
    const member = value[name];
    const found = { path: pathText(path, true), kind: pathText(path, false), value: member, steps: path };
    return [found, ...(opaque ? [] : members(member, path))];
  });
}

function pathText(steps: readonly Step[], indexed: boolean): string {
  return steps
    .map((step, at) =>
      typeof step === 'number' ? `[${indexed ? step : ''}]` : `${at === 0 ? '' : '.'}${step}`,
    )
    .join('');
}

/** The request with another value in one place, or with none. */
function changed(value: unknown, [step, ...rest]: readonly Step[], by: readonly unknown[]): unknown {
  if (Array.isArray(value))
    return value.map((item: unknown, index) => (index === step ? changed(item, rest, by) : item));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      if (name !== step) return [[name, member]];
      return rest.length === 0 ? by.map((other) => [name, other]) : [[name, changed(member, rest, by)]];
    }),
  );
}

/** Values that say the same as leaving the field out, by the documentation of Responses. */
const DEFAULTS: Readonly<Record<string, readonly unknown[]>> = {
  stream: [false],
  background: [false],
  truncation: ['disabled'],
  metadata: [{}],
  include: [[]],
  tools: [[]],
  'stream_options.include_obfuscation': [false],
  stream_options: [{}, { include_obfuscation: false }],
  reasoning: [{}],
  text: [{}, { format: { type: 'text' } }],
  'text.format': [{ type: 'text' }],
  parallel_tool_calls: [true],
  'input[].type': ['message'],
  'input[].status': ['completed'],
  'input[].content[].annotations': [[]],
  'input[].content[].logprobs': [[]],
};

function saysNothing(translation: Translation, request: unknown, { kind, value }: Member): boolean {
  if (value === null || DEFAULTS[kind]?.some((same) => isDeepStrictEqual(same, value)) === true) return true;
  // The provider gets its own name for the model.
  if (kind === 'model') return true;
  const tool = /^tools\[\](?:\.tools\[\])?\.(strict|defer_loading|format)$/.exec(kind)?.[1];
  if (tool === 'format') return isObject(value) && value['type'] === 'text';
  // A function is strict unless the client says otherwise.
  if (tool === 'strict') return value === true;
  if (tool !== undefined) return value === false;
  if (kind === 'tools[].description') return value === '';
  // Without tools there is nothing to choose from.
  if (kind === 'tool_choice' || kind === 'parallel_tool_calls') {
    const tools = isObject(request) ? request['tools'] : null;
    if (Array.isArray(tools) && tools.length === 0) return true;
  }
  return translation.provider === 'messages' && saysNothingToMessages(kind, value);
}

/** What Messages do in any case. */
function saysNothingToMessages(kind: string, value: unknown): boolean {
  switch (kind) {
    case 'tool_choice':
      // All tools may be the allowed ones.
      return value === 'auto' || (isObject(value) && value['mode'] === 'auto');
    case 'tool_choice.mode':
      return value === 'auto';
    case 'service_tier':
      return value === 'auto';
    case 'text.verbosity':
      return value === 'medium';
    case 'text':
      return (
        isDeepStrictEqual(value, { verbosity: 'medium' }) ||
        isDeepStrictEqual(value, { format: { type: 'text' }, verbosity: 'medium' })
      );
    case 'text.format.strict':
      return true;
    case 'include':
      // Decides what the writer says.
      return isDeepStrictEqual(value, ['reasoning.encrypted_content']);
    case 'input[].summary':
      return isDeepStrictEqual(value, []);
    default:
      return /\.detail$/.test(kind) && value === 'auto';
  }
}
