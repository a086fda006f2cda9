import fc from 'fast-check';
import { parseKeeping, parseObjectKeeping, writeJson } from '../../../kit/json-source.ts';
import { jsonText, objectText } from '../../../kit/json-text.fixture.ts';
import { isObject, listOf, objectOf } from '../../../kit/json-value.ts';
import { chatToMessages } from '../chat-to-messages/index.ts';
import { messagesToChat } from '../messages-to-chat/index.ts';
import { requestSources } from '../request-sources.ts';
import { responsesToChat } from '../responses-to-chat/index.ts';
import { responsesToMessages } from '../responses-to-messages/index.ts';
import { framesOf, translateStream, writerOptions } from '../stream-case.fixture.ts';
import type { Translation } from '../translation.ts';

/** JSON texts of a conversation that no translation has to understand, each of them unique. */
export interface SourceTexts {
  readonly schema: string;
  /** A schema without a type, which Messages require. */
  readonly untyped: string;
  readonly format: string;
  readonly earlier: string;
  /** Arguments that are no object: a model was cut off, or wrote something else. */
  readonly broken: string;
  readonly answered: readonly [string, string];
  /** How the provider writes the input of calls: in pieces, or whole. */
  readonly whole: boolean;
  readonly pieceLength: number;
  readonly metadata: string;
  readonly cache: string;
}

/** The client's own words for a text, in what it or the provider gets. */
type Wanted = readonly [name: string, text: string];

/** An object with an id and whatever else JSON allows. */
const members = fc.tuple(fc.uuid(), objectText).map(([id, rest]) => {
  const more = rest.slice(1, -1).trim() === '' ? '' : `,${rest.slice(1, -1)}`;
  return `"_id":"${id}"${more}`;
});
const object = members.map((text) => `{${text}}`);

export const sourceTexts: fc.Arbitrary<SourceTexts> = fc.record({
  schema: members.map((text) => `{ "type":"object",${text}}`),
  untyped: object,
  format: fc
    .tuple(fc.uuid(), jsonText)
    .map(
      ([id, value]) =>
        `{"type":"object","description":"${id}","properties":{"a":{"type":"string","enum":[1.0, 1E5],"default":${value}}} ,"required":["a"],"additionalProperties":false}`,
    ),
  earlier: object,
  broken: fc.oneof(
    object.map((text) => text.slice(0, -1)),
    fc.tuple(fc.uuid(), jsonText).map(([id, text]) => `["${id}",${text}]`),
  ),
  answered: fc.tuple(object, object),
  whole: fc.boolean(),
  pieceLength: fc.integer({ min: 1, max: 20 }),
  metadata: object,
  cache: object,
});

const string = (text: string): string => JSON.stringify(text);

function chatRequest(texts: SourceTexts): string {
  const call = (id: string, text: string) =>
    `{"id":"${id}","type":"function","function":{"name":"f","arguments":${string(text)}}}`;
  return `{"model":"lane","messages":[{"role":"user","content":[{"type":"text","text":"Hi","cache_control": ${texts.cache} }]},
    {"role":"assistant","content":null,"tool_calls":[${call('call_1', texts.earlier)},${call('call_2', texts.broken)}]},
    {"role":"tool","tool_call_id":"call_1","content":"1"},{"role":"tool","tool_call_id":"call_2","content":"2"}],
    "tools":[{"type":"function","function":{"name":"f","parameters":\t${texts.schema}}},{"type":"function","function":{"name":"g","parameters":${texts.untyped}}}],
    "response_format":{"type":"json_schema","json_schema":{"name":"n","schema":${texts.format}}}}`;
}

function messagesRequest({ earlier, schema, format }: SourceTexts): string {
  return `{"model":"lane","max_tokens":9,"messages":[{"role":"user","content":"Hi"},
    {"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"f","input":\n${earlier}}]},
    {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"1"}]}],
    "tools":[{"name":"f","input_schema":${schema} }],"output_config":{"format":{"type":"json_schema","schema":${format}}}}`;
}

function responsesRequest(texts: SourceTexts): string {
  const call = (id: string, text: string) =>
    `{"type":"function_call","call_id":"${id}","name":"f","arguments":${string(text)}}`;
  return `{"model":"lane","metadata":${texts.metadata},"input":[{"role":"user","content":"Hi"},${call('call_1', texts.earlier)},${call('call_2', texts.broken)},
    {"type":"function_call_output","call_id":"call_1","output":"1"},{"type":"function_call_output","call_id":"call_2","output":"2"},
    {"type":"additional_tools","role":"developer","tools":[{"type":"function","name":"g","parameters":${texts.untyped}}]}],
    "tools":[{"type":"namespace","name":"n","description":"","tools":[{"type":"function","name":"f","parameters": ${texts.schema}}]}],
    "text":{"format":{"type":"json_schema","name":"n","schema":${texts.format}}}}`;
}

const typed = (text: string): string => `{"type":"object",${text.slice(1)}`;

function sentToChat({ schema, untyped, format, earlier, broken }: SourceTexts, hasMore: boolean): Wanted[] {
  return [
    ['parameters', schema],
    ['schema', format],
    ['arguments', string(earlier)],
    ...(hasMore
      ? ([
          ['parameters', untyped],
          ['arguments', string(broken)],
        ] as const)
      : []),
  ];
}

function sentToMessages({ schema, untyped, format, earlier, broken }: SourceTexts): Wanted[] {
  return [
    ['input_schema', schema],
    ['input_schema', typed(untyped)],
    ['schema', format],
    ['input', earlier],
    ['input', `{"arguments":${string(broken)}}`],
  ];
}

interface Pair {
  readonly translation: Translation;
  readonly request: (texts: SourceTexts) => string;
  readonly sent: (texts: SourceTexts) => readonly Wanted[];
}

const PAIRS: readonly Pair[] = [
  {
    translation: chatToMessages,
    request: chatRequest,
    sent: (texts) => [...sentToMessages(texts), ['cache_control', texts.cache]],
  },
  { translation: messagesToChat, request: messagesRequest, sent: (texts) => sentToChat(texts, false) },
  { translation: responsesToChat, request: responsesRequest, sent: (texts) => sentToChat(texts, true) },
  { translation: responsesToMessages, request: responsesRequest, sent: sentToMessages },
];

/** What the provider answers: two calls. */
function wholeAnswer(provider: Translation['provider'], { answered, whole }: SourceTexts): string {
  if (provider === 'messages') {
    const blocks = answered.map(
      (text, at) => `{"type":"tool_use","id":"toolu_${at}","name":"f","input": ${text}}`,
    );
    return `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[${blocks.join(',')}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1}}`;
  }
  const calls = answered.map(
    (text, at) =>
      `{"id":"call_${at}","type":"function","function":{"name":"f","arguments":${whole ? text : string(text)}}}`,
  );
  return `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[${calls.join(',')}]},"finish_reason":"tool_calls"}]}`;
}

function streamedAnswer(provider: Translation['provider'], texts: SourceTexts): string {
  return provider === 'messages' ? messagesStream(texts) : chatStream(texts);
}

function messagesStream({ answered, whole, pieceLength }: SourceTexts): string {
  const event = (data: string) => `data: ${data}\n\n`;
  const blocks = answered.map((text, index) => {
    const input = whole ? oneLine(text) : '{}';
    const pieces = whole ? [] : cut(text, pieceLength);
    return [
      event(
        `{"type":"content_block_start","index":${index},"content_block":{"type":"tool_use","id":"toolu_${index}","name":"f","input":${input}}}`,
      ),
      ...pieces.map((piece) =>
        event(
          `{"type":"content_block_delta","index":${index},"delta":{"type":"input_json_delta","partial_json":${string(piece)}}}`,
        ),
      ),
      event(`{"type":"content_block_stop","index":${index}}`),
    ].join('');
  });
  return [
    event(
      '{"type":"message_start","message":{"id":"msg_1","model":"m","usage":{"input_tokens":1,"output_tokens":1}}}',
    ),
    ...blocks,
    event('{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":2}}'),
    event('{"type":"message_stop"}'),
  ].join('');
}

function chatStream({ answered, whole, pieceLength }: SourceTexts): string {
  const chunk = (delta: string, reason = 'null') =>
    `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":${delta},"finish_reason":${reason}}]}\n\n`;
  const calls = answered.flatMap((text, index) => {
    const pieces = whole ? [oneLine(text)] : cut(text, pieceLength).map(string);
    return [
      chunk(
        `{"tool_calls":[{"index":${index},"id":"call_${index}","type":"function","function":{"name":"f","arguments":""}}]}`,
      ),
      ...pieces.map((piece) =>
        chunk(`{"tool_calls":[{"index":${index},"function":{"arguments":${piece}}}]}`),
      ),
    ];
  });
  return `${calls.join('')}${chunk('{}', '"tool_calls"')}data: [DONE]\n\n`;
}

function cut(text: string, length: number): readonly string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += length) pieces.push(text.slice(at, at + length));
  return pieces;
}

/** A frame has one line; ends of lines stand only between the tokens of JSON. */
function oneLine(text: string): string {
  return text.replaceAll(/[\r\n]+/g, ' ');
}

/** Texts that the provider or the client gets in another spelling, or not at all. */
export function changedTexts(texts: SourceTexts): readonly string[] {
  return PAIRS.flatMap((pair) => {
    const name = `${pair.translation.client} to ${pair.translation.provider}`;
    return [
      ...changedRequest(pair, texts).map((text) => `${name}, request: ${text}`),
      ...changedWhole(pair, texts).map((text) => `${name}, whole answer: ${text}`),
      ...changedStream(pair, texts).map((text) => `${name}, stream: ${text}`),
    ];
  });
}

function parsedRequest({ translation, request }: Pair, texts: SourceTexts): unknown {
  return parseKeeping(request(texts), requestSources(translation.client));
}

function changedRequest(pair: Pair, texts: SourceTexts): readonly string[] {
  const sent = pair.translation.request(parsedRequest(pair, texts), 'upstream');
  if (sent.kind === 'incompatible') return [`refused: ${sent.field}`];
  const body = writeJson(sent.body);
  return pair
    .sent(texts)
    .filter(([name, text]) => !body.includes(`"${name}":${text}`))
    .map(String);
}

function changedWhole(pair: Pair, texts: SourceTexts): readonly string[] {
  const { translation } = pair;
  const reader = translation.reader(writerOptions);
  const answer = parseObjectKeeping(wholeAnswer(translation.provider, texts), reader.sources);
  const writer = translation.writer({ ...writerOptions, request: parsedRequest(pair, texts) });
  const body = writeJson(writer.whole(reader.whole(answer)));
  const calls = texts.answered.map(
    (text): Wanted => (translation.client === 'messages' ? ['input', text] : ['arguments', string(text)]),
  );
  return [...calls, ...repeated(translation, texts)]
    .filter(([name, text]) => !body.includes(`"${name}":${text}`))
    .map(String);
}

/** What a response repeats of its request. */
function repeated({ client }: Translation, { metadata, schema, format }: SourceTexts): readonly Wanted[] {
  if (client !== 'responses') return [];
  return [
    ['metadata', metadata],
    ['parameters', schema],
    ['schema', format],
  ];
}

function changedStream(pair: Pair, texts: SourceTexts): readonly string[] {
  const { translation } = pair;
  const bytes = Buffer.from(streamedAnswer(translation.provider, texts));
  const half = Math.floor(bytes.length / 2);
  const options = { ...writerOptions, request: parsedRequest(pair, texts) };
  const said = translateStream(translation, [bytes.subarray(0, half), bytes.subarray(half)], options);
  const inputs = new Map<unknown, string>();
  for (const { data } of framesOf(said)) addInput(inputs, objectOf(data));
  const written = [...inputs.values()];
  const wanted = texts.whole ? texts.answered.map(oneLine) : texts.answered;
  return [
    ...wanted.filter((text, index) => written[index] !== text),
    ...repeated(translation, texts)
      .filter(([name, text]) => !said.includes(`"${name}":${oneLine(text)}`))
      .map(String),
  ];
}

/** Pieces of tool input in a frame of any client's protocol, by call. */
function addInput(inputs: Map<unknown, string>, frame: Readonly<Record<string, unknown>>): void {
  const { index, delta, item_id: item, type } = frame;
  const add = (call: unknown, piece: unknown): void => {
    if (typeof piece === 'string') inputs.set(call, (inputs.get(call) ?? '') + piece);
  };
  if (isObject(delta)) add(index, delta['partial_json']);
  else if (type === 'response.function_call_arguments.delta') add(item, delta);
  for (const choice of listOf(frame['choices']))
    for (const call of listOf(objectOf(objectOf(choice)['delta'])['tool_calls']))
      add(objectOf(call)['index'], objectOf(objectOf(call)['function'])['arguments']);
}
