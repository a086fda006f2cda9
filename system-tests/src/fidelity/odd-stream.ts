import fc from 'fast-check';
import { longStringText, memberText, oddMember, stringText } from './odd-json.ts';

/** One event of a stream: its lines without their ends. */
interface StreamEvent {
  readonly lines: readonly string[];
  /** Exists only because usage was asked for. */
  readonly usageOnly: boolean;
}

export interface OddStream {
  readonly whole: Buffer;
  /** Without the events that only carry usage. */
  readonly withoutUsage: Buffer;
}

/** The form of a stream; all of these are legal. */
const lineEnds = fc.constantFrom<readonly string[]>(
  ['\n'],
  ['\n'],
  ['\r\n'],
  ['\r'],
  ['\n', '\r\n'],
  ['\r\n', '\r', '\n'],
);

const idleEvent = fc.constantFrom<StreamEvent>(
  { lines: [': keep-alive'], usageOnly: false },
  { lines: [':'], usageOnly: false },
  { lines: ['retry: 3000', 'id: 7'], usageOnly: false },
  { lines: ['data:'], usageOnly: false },
  { lines: ['data'], usageOnly: false },
  { lines: ['unknown: field', ': and a comment'], usageOnly: false },
  { lines: [], usageOnly: false },
);

const dataField = fc.constantFrom('data: ', 'data:');

/** The same event's text on one line, or with a line for every line of a pretty-printed object. */
function dataLines(json: string, field: string, pretty: boolean): string[] {
  if (!pretty) return [field + json];
  return JSON.stringify(JSON.parse(json), null, 1)
    .split('\n')
    .map((line) => field + line);
}

function event(
  json: fc.Arbitrary<string>,
  name: string | null,
  usageOnly = false,
): fc.Arbitrary<StreamEvent> {
  return fc.record({ json, field: dataField, pretty: fc.boolean() }).map(({ json: text, field, pretty }) => ({
    lines: [
      ...(name === null ? [] : [`event: ${name}`]),
      ...dataLines(text, field, pretty && text.length < 2_000),
    ],
    usageOnly,
  }));
}

const contentText = fc.oneof(
  { weight: 30, arbitrary: stringText },
  { weight: 1, arbitrary: fc.integer({ min: 1_000, max: 400_000 }).map(longStringText) },
);

const chatContent = fc.tuple(contentText, fc.array(oddMember, { maxLength: 1 })).map(([content, more]) => {
  const extra = more.map((member) => `"vendor":{${memberText(member)}},`).join('');
  return `{${extra}"choices":[{"index":0,"delta":{"content":${content}},"finish_reason":null}]}`;
});

const usageObject = '{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}';

function chatEvents(): fc.Arbitrary<StreamEvent[]> {
  const role = event(
    fc.constant('{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}'),
    null,
  );
  const usage = event(fc.constant(`{"id":"x","choices":[],"usage":${usageObject}}`), null, true);
  const finish = event(fc.constant('{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}'), null);
  const done: StreamEvent = { lines: ['data: [DONE]'], usageOnly: false };
  return fc
    .record({
      before: fc.array(fc.oneof(role, idleEvent), { maxLength: 4 }),
      content: fc.array(
        fc.oneof({ weight: 4, arbitrary: event(chatContent, null) }, { weight: 1, arbitrary: idleEvent }),
        { maxLength: 8 },
      ),
      first: event(chatContent, null),
      finish,
      usage: fc.option(usage, { nil: null }),
      after: fc.array(idleEvent, { maxLength: 1 }),
    })
    .map((parts) => [
      ...parts.before,
      parts.first,
      ...parts.content,
      parts.finish,
      ...(parts.usage === null ? [] : [parts.usage]),
      done,
      ...parts.after,
    ]);
}

function responsesEvents(): fc.Arbitrary<StreamEvent[]> {
  const typed = (type: string, rest: string) => `{"type":"${type}",${rest}}`;
  const delta = contentText.map((text) => typed('response.output_text.delta', `"delta":${text}`));
  const created = event(
    fc.constant(typed('response.created', '"response":{"usage":null}')),
    'response.created',
  );
  const last = typed('response.completed', '"response":{"usage":{"input_tokens":2,"output_tokens":1}}');
  return fc
    .record({
      created,
      content: fc.array(
        fc.oneof(
          { weight: 4, arbitrary: event(delta, 'response.output_text.delta') },
          { weight: 1, arbitrary: idleEvent },
        ),
        { minLength: 1, maxLength: 8 },
      ),
      end: event(fc.constant(last), 'response.completed'),
    })
    .map(({ created: first, content, end }) => [first, ...content, end]);
}

function messagesEvents(): fc.Arbitrary<StreamEvent[]> {
  const named = (type: string, rest: fc.Arbitrary<string>) =>
    event(
      rest.map((fields) => `{"type":"${type}"${fields}}`),
      type,
    );
  const fixed = (type: string, rest = '') => named(type, fc.constant(rest));
  const delta = contentText.map((text) => `,"index":0,"delta":{"type":"text_delta","text":${text}}`);
  return fc
    .record({
      start: fixed('message_start', ',"message":{"usage":{"input_tokens":2,"output_tokens":1}}'),
      block: fixed('content_block_start', ',"index":0,"content_block":{"type":"text","text":""}'),
      content: fc.array(
        fc.oneof(
          { weight: 4, arbitrary: named('content_block_delta', delta) },
          { weight: 1, arbitrary: fixed('ping') },
          { weight: 1, arbitrary: idleEvent },
        ),
        { maxLength: 8 },
      ),
      close: fixed('message_delta', ',"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":4}'),
      stop: fixed('message_stop'),
    })
    .map(({ start, block, content, close, stop }) => [start, block, ...content, close, stop]);
}

type StreamedOperation = 'chat' | 'responses' | 'messages';

const eventsOf: Readonly<Record<StreamedOperation, () => fc.Arbitrary<StreamEvent[]>>> = {
  chat: chatEvents,
  responses: responsesEvents,
  messages: messagesEvents,
};

/** A whole stream of the operation, odd but legal. */
export function oddStream(operation: StreamedOperation): fc.Arbitrary<OddStream> {
  return fc
    .record({
      events: eventsOf[operation](),
      ends: lineEnds,
      mark: fc.constantFrom('', '', '', '\ufeff'),
      cutTail: fc.constantFrom(false, false, true),
    })
    .map(({ events, ends, mark, cutTail }) => {
      const texts = writeEvents(events, ends);
      // Some end without the last blank line; what a reader does with that is not the gateway's business.
      const last = texts.pop() ?? '';
      texts.push(cutTail ? last.replace(/[\r\n]+$/, '\n') : last);
      const kept = texts.filter((_text, index) => events[index]?.usageOnly !== true);
      return { whole: Buffer.from(mark + texts.join('')), withoutUsage: Buffer.from(mark + kept.join('')) };
    });
}

function writeEvents(events: readonly StreamEvent[], ends: readonly string[]): string[] {
  let ended = 0;
  let last = '';
  function write(line: string): string {
    const end = ends[ended % ends.length] ?? '\n';
    ended += 1;
    // A line feed right behind a carriage return would be the second half of one line end, not another.
    const text = line + (line === '' && last.endsWith('\r') && end === '\n' ? '\r' : end);
    last = text;
    return text;
  }
  return events.map(({ lines }) => [...lines, ''].map(write).join(''));
}
