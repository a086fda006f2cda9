import { isObject, type JsonObject, listOf, objectOf } from '../../../kit/json-value.ts';
import type { FieldSorter } from '../field-sorter.ts';
import type { ConversationRules } from './conversation.ts';
import type { ResponsesFields } from './fields.ts';

const ENCRYPTED_REASONING = 'reasoning.encrypted_content';
const PROBABILITIES = 'message.output_text.logprobs';
/** Results of hosted tools, which a translated request cannot have, and what only the response object repeats. */
const WITHOUT_EFFECT: readonly unknown[] = [
  'file_search_call.results',
  'web_search_call.results',
  'web_search_call.action.sources',
  'code_interpreter_call.outputs',
  'computer_call_output.output.image_url',
  'message.input_image.image_url',
];

/** The request's sections, sorted. */
export interface Settings {
  readonly reasoning: JsonObject;
  readonly text: JsonObject;
  /** Null for plain text. */
  readonly format: JsonObject | null;
}

export function readSettings(
  sorter: FieldSorter,
  request: JsonObject,
  { fields, returnsThinking }: ConversationRules,
): Settings {
  sorter.sort(request, '', fields.request);
  // Responses are stored unless the client says otherwise.
  if (request['store'] === undefined || request['store'] === null) sorter.leaveOut('store');
  sortInclude(sorter, request['include'], returnsThinking);
  section(sorter, request, 'stream_options', fields.streamOptions);
  const reasoning = section(sorter, request, 'reasoning', fields.reasoning);
  const text = section(sorter, request, 'text', fields.text);
  const { format: given } = text;
  if (given === undefined || given === null || objectOf(given)['type'] === 'text')
    return { reasoning, text, format: null };
  if (!isObject(given)) sorter.wrongKind('text.format', 'an object');
  const format = objectOf(given);
  sorter.sort(format, 'text.format', fields.textFormat);
  return { reasoning, text, format };
}

function section(
  sorter: FieldSorter,
  request: JsonObject,
  name: string,
  table: ResponsesFields['reasoning'],
): JsonObject {
  const given = request[name];
  if (given === undefined || given === null) return {};
  if (!isObject(given)) {
    sorter.wrongKind(name, 'an object');
    return {};
  }
  sorter.sort(given, name, table);
  return given;
}

/** Whether the client asks for the probabilities of the tokens, which chat completions have and Messages do not. */
export function asksForProbabilities(request: JsonObject): boolean {
  return Number(request['top_logprobs'] ?? 0) > 0 || listOf(request['include']).includes(PROBABILITIES);
}

/** Thinking that the provider signed travels as encrypted reasoning. */
function sortInclude(sorter: FieldSorter, include: unknown, returnsThinking: boolean): void {
  const included = returnsThinking ? ENCRYPTED_REASONING : PROBABILITIES;
  for (const [index, what] of listOf(include).entries()) {
    if (what === included) continue;
    if (what === ENCRYPTED_REASONING || WITHOUT_EFFECT.includes(what)) sorter.leaveOut(`include[${index}]`);
    else sorter.cannotSay(`include[${index}]`);
  }
}
