import assert from 'node:assert/strict';
import type { Response, ResponseOutputItem, ResponseStreamEvent } from 'openai/resources/responses/responses';
import { isObject, type JsonObject, listOf, objectOf } from '../../../../kit/json-value.ts';

/**
 * What every stream of Responses keeps to, whatever it says. Which members there are comes from OpenAI's own types: the tables
 * below do not compile when one that is required is missing.
 */
type Kind = 'string' | 'number' | 'boolean' | 'object' | 'array' | 'any';
type RequiredKeys<T> = { [K in keyof T]-?: object extends Pick<T, K> ? never : K }[keyof T];
type Members<T> = Readonly<Record<Exclude<RequiredKeys<T>, 'type' | 'sequence_number'>, Kind>>;
type EventOf<T extends string> = Extract<ResponseStreamEvent, { type: T }>;
type ItemOf<T extends string> = Extract<ResponseOutputItem, { type: T }>;

const lifecycle = { response: 'object' } as const;
const ofItem = { output_index: 'number', item: 'object' } as const;
const inItem = { item_id: 'string', output_index: 'number' } as const;
const inPart = { ...inItem, content_index: 'number' } as const;
const inSummary = { ...inItem, summary_index: 'number' } as const;

const EVENTS = eventTables({
  'response.created': lifecycle,
  'response.in_progress': lifecycle,
  'response.completed': lifecycle,
  'response.incomplete': lifecycle,
  'response.failed': lifecycle,
  'response.output_item.added': ofItem,
  'response.output_item.done': ofItem,
  'response.content_part.added': { ...inPart, part: 'object' },
  'response.content_part.done': { ...inPart, part: 'object' },
  'response.output_text.delta': { ...inPart, delta: 'string', logprobs: 'array' },
  'response.output_text.done': { ...inPart, text: 'string', logprobs: 'array' },
  'response.refusal.delta': { ...inPart, delta: 'string' },
  'response.refusal.done': { ...inPart, refusal: 'string' },
  'response.function_call_arguments.delta': { ...inItem, delta: 'string' },
  'response.function_call_arguments.done': { ...inItem, arguments: 'string' },
  'response.custom_tool_call_input.delta': { ...inItem, delta: 'string' },
  'response.custom_tool_call_input.done': { ...inItem, input: 'string' },
  'response.reasoning_summary_part.added': { ...inSummary, part: 'object' },
  'response.reasoning_summary_part.done': { ...inSummary, part: 'object' },
  'response.reasoning_summary_text.delta': { ...inSummary, delta: 'string' },
  'response.reasoning_summary_text.done': { ...inSummary, text: 'string' },
  error: { code: 'any', message: 'string', param: 'any' },
});

const ITEMS = itemTables({
  message: { id: 'string', content: 'array', role: 'string', status: 'string' },
  reasoning: { id: 'string', summary: 'array' },
  function_call: { arguments: 'string', call_id: 'string', name: 'string' },
  custom_tool_call: { call_id: 'string', input: 'string', name: 'string' },
});

// The SDK adds `output_text` to what it reads.
const RESPONSE: Members<Omit<Response, 'output_text'>> = {
  id: 'string',
  access_programs: 'any',
  created_at: 'number',
  error: 'any',
  incomplete_details: 'any',
  instructions: 'any',
  metadata: 'object',
  model: 'string',
  object: 'string',
  output: 'array',
  parallel_tool_calls: 'boolean',
  temperature: 'any',
  tool_choice: 'any',
  tools: 'array',
  top_p: 'any',
};

const USAGE: Members<NonNullable<Response['usage']>> = {
  input_tokens: 'number',
  input_tokens_details: 'object',
  output_tokens: 'number',
  output_tokens_details: 'object',
  total_tokens: 'number',
};

function eventTables<T extends ResponseStreamEvent['type']>(
  tables: { readonly [K in T]: Members<EventOf<K>> },
) {
  return tables;
}

function itemTables<T extends ResponseOutputItem['type']>(tables: { readonly [K in T]: Members<ItemOf<K>> }) {
  return tables;
}

export function checkStream(events: readonly JsonObject[]): void {
  assert.deepEqual(
    events.map(({ sequence_number: number }) => number),
    events.map((_event, index) => index),
    'sequence numbers',
  );
  for (const event of events) if (event['type'] !== 'keepalive') checkEvent(event);
  checkNesting(events);
  checkEnd(events);
}

function checkEvent(event: JsonObject): void {
  const { type, item, response } = event;
  checkMembers(event, tableOf(EVENTS, type));
  if (isObject(item)) checkMembers(item, tableOf(ITEMS, item['type']));
  if (isObject(response)) checkResponse(response);
}

export function checkResponse(response: JsonObject): void {
  checkMembers(response, RESPONSE);
  if (isObject(response['usage'])) checkMembers(response['usage'], USAGE);
  for (const item of listOf(response['output']).map(objectOf))
    checkMembers(item, tableOf(ITEMS, item['type']));
}

function tableOf(tables: Readonly<Record<string, Readonly<Record<string, Kind>>>>, type: unknown) {
  const table = tables[String(type)];
  assert.ok(table, `unknown type ${String(type)}`);
  return table;
}

function checkMembers(object: JsonObject, members: Readonly<Record<string, Kind>>): void {
  for (const [name, kind] of Object.entries(members)) {
    const value = object[name];
    assert.notEqual(value, undefined, `${name} is missing in ${JSON.stringify(object)}`);
    const found = Array.isArray(value) ? 'array' : typeof value;
    assert.ok(
      kind === 'any' || found === kind,
      `${name} is of the kind ${found} in ${JSON.stringify(object)}`,
    );
  }
}

/** Each item and part is announced before it says anything, and says in pieces what it says at its end. */
function checkNesting(events: readonly JsonObject[]): void {
  const open = new Map<unknown, unknown>();
  const pieces = new Map<string, string>();
  for (const event of events) {
    const { type, item, item_id: id, output_index: index } = event;
    if (type === 'response.output_item.added') open.set(index, objectOf(item)['id']);
    if (type === 'response.output_item.done') {
      assert.equal(open.get(index), objectOf(item)['id'], 'an item that was not announced ends');
      open.delete(index);
    }
    if (id !== undefined) assert.equal(open.get(index), id, `${String(type)} belongs to no open item`);
    const place = `${String(index)}.${String(event['content_index'] ?? event['summary_index'])}`;
    if (typeof event['delta'] === 'string') pieces.set(place, (pieces.get(place) ?? '') + event['delta']);
    const whole = event['text'] ?? event['refusal'] ?? event['arguments'] ?? event['input'];
    if (whole !== undefined) assert.equal(pieces.get(place) ?? '', whole, 'the pieces say something else');
  }
}

/** The last event has all items that ended, in their places. */
function checkEnd(events: readonly JsonObject[]): void {
  const { response } = objectOf(events.at(-1));
  if (!isObject(response)) return;
  const ended = events
    .filter(({ type }) => type === 'response.output_item.done')
    .toSorted((a, b) => Number(a['output_index']) - Number(b['output_index']))
    .map(({ item }) => item);
  assert.deepEqual(response['output'], ended);
}
