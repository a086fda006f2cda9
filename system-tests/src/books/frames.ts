import { filling, ID, MODEL, type Telling, usageObject, type Wire, WORDS } from './answers.ts';
import type { Piece, Report } from './bill.ts';

/** Where a stream is when a frame of it was written. */
type Stage = 'preamble' | 'content' | 'closing' | 'usage' | 'done';

export interface Frame extends Piece {
  readonly stage: Stage;
}

function sse(payload: object, event?: string): Buffer {
  const name = event === undefined ? '' : `event: ${event}\n`;
  return Buffer.from(`${name}data: ${JSON.stringify(payload)}\n\n`);
}

/** A stream of three words. */
export function streamFrames(wire: Wire, telling: Telling): Frame[] {
  if (wire === 'chat') return chatFrames(telling);
  return wire === 'messages' ? messagesFrames(telling) : responsesFrames(telling);
}

const told = (report: Report | undefined) => (report === undefined ? {} : { report });

function chatFrames({ reports, early = false, padding = 0, tier }: Telling): Frame[] {
  const base = { id: ID, object: 'chat.completion.chunk', created: 1, model: MODEL };
  const tierOf = tier === undefined ? {} : { service_tier: tier.name };
  const withUsage = (report: Report | undefined) =>
    report === undefined ? {} : { usage: usageObject('chat', report) };
  const filler = padding === 0 ? {} : { system_fingerprint: filling(padding) };
  const delta = (value: object, finish: string | null = null) => ({
    choices: [{ index: 0, delta: value, finish_reason: finish }],
  });
  const first = early ? reports.at(-1) : undefined;
  const frames: Frame[] = [
    {
      stage: 'preamble',
      bytes: sse({ ...base, ...tierOf, ...delta({ role: 'assistant', content: '' }), ...withUsage(first) }),
      ...told(first),
    },
    ...WORDS.map((content) => ({
      stage: 'content' as const,
      bytes: sse({ ...base, ...tierOf, ...delta({ content }) }),
    })),
    { stage: 'closing', bytes: sse({ ...base, ...delta({}, 'stop') }) },
  ];
  for (const report of reports) {
    const payload = { ...base, ...filler, choices: [], ...withUsage(report) };
    const inUsage = tier?.inContentOnly === true ? {} : tierOf;
    frames.push({ stage: 'usage', bytes: sse({ ...payload, ...inUsage }), ...told(report) });
  }
  return [...frames, { stage: 'done', bytes: Buffer.from('data: [DONE]\n\n') }];
}

function responsesFrames({ reports, early = false, padding = 0, tier }: Telling): Frame[] {
  let sequence = 0;
  const frame = (type: string, payload: object): Buffer =>
    sse({ type, sequence_number: sequence++, ...payload }, type);
  const response = (status: string, more: object = {}) => ({
    response: { id: ID, object: 'response', created_at: 1, model: MODEL, status, output: [], ...more },
  });
  const withUsage = (report: Report | undefined) =>
    report === undefined ? {} : { usage: usageObject('responses', report) };
  const tierOf = tier === undefined ? {} : { service_tier: tier.name };
  const first = early ? reports.at(-1) : undefined;
  const item = { type: 'message', id: 'msg_played', role: 'assistant', status: 'in_progress', content: [] };
  const at = { item_id: 'msg_played', output_index: 0, content_index: 0 };
  const text = WORDS.join('');
  const last = reports.at(-1);
  const filler = padding === 0 ? {} : { instructions: filling(padding) };
  const frames: Frame[] = [
    { stage: 'preamble', bytes: frame('response.created', response('in_progress', { usage: null })) },
    {
      stage: 'preamble',
      bytes: frame('response.in_progress', response('in_progress', withUsage(first))),
      ...told(first),
    },
    { stage: 'preamble', bytes: frame('response.output_item.added', { output_index: 0, item }) },
    {
      stage: 'preamble',
      bytes: frame('response.content_part.added', {
        ...at,
        part: { type: 'output_text', text: '', annotations: [] },
      }),
    },
    ...WORDS.map((delta) => ({
      stage: 'content' as const,
      bytes: frame('response.output_text.delta', { ...at, delta }),
    })),
    { stage: 'closing', bytes: frame('response.output_text.done', { ...at, text }) },
  ];
  for (const report of reports.slice(0, -1))
    frames.push({
      stage: 'usage',
      bytes: frame('response.in_progress', response('in_progress', withUsage(report))),
      report,
    });
  const end = response('completed', { ...filler, ...tierOf, ...withUsage(last) });
  return [...frames, { stage: 'done', bytes: frame('response.completed', end), ...told(last) }];
}

/** The first report has the input in `message_start`; the outputs follow in `message_delta`. */
function messagesFrames({ reports, early = false, padding = 0, tier }: Telling): Frame[] {
  const [start] = reports;
  const tierOf = tier === undefined ? {} : { service_tier: tier.name };
  const startUsage =
    start === undefined ? {} : { usage: { ...usageObject('messages', { ...start, output: 1 }), ...tierOf } };
  const message = { id: ID, type: 'message', role: 'assistant', model: MODEL, content: [], ...startUsage };
  const inPart =
    start?.input === undefined
      ? undefined
      : { input: start.input, ...(start.cached === undefined ? {} : { cached: start.cached }) };
  const block = (type: string, payload: object) => sse({ type, index: 0, ...payload }, type);
  const filler = padding === 0 ? {} : { padding: filling(padding) };
  const delta = (report: Report, reason: string | null) => {
    // Only what repeats the input as zeros names it again.
    const usage =
      report.input === 0 ? { input_tokens: 0, output_tokens: 0 } : { output_tokens: report.output };
    const payload = { delta: { stop_reason: reason, stop_sequence: null }, usage, ...filler };
    return sse({ type: 'message_delta', ...payload }, 'message_delta');
  };
  const counted = reports.filter(({ output }) => output !== undefined);
  const tellOutput = ({ output = 0 }: Report): Report => ({ output });
  const [firstCounted] = early ? counted.slice(-1) : [];
  const frames: Frame[] = [
    {
      stage: 'preamble',
      bytes: sse(
        { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null } },
        'message_start',
      ),
      ...told(inPart),
    },
    { stage: 'preamble', bytes: sse({ type: 'ping' }, 'ping') },
  ];
  if (firstCounted !== undefined)
    frames.push({ stage: 'preamble', bytes: delta(firstCounted, null), report: tellOutput(firstCounted) });
  frames.push(
    { stage: 'preamble', bytes: block('content_block_start', { content_block: { type: 'text', text: '' } }) },
    ...WORDS.map((text) => ({
      stage: 'content' as const,
      bytes: block('content_block_delta', { delta: { type: 'text_delta', text } }),
    })),
    { stage: 'closing', bytes: block('content_block_stop', {}) },
  );
  for (const report of counted)
    frames.push({ stage: 'usage', bytes: delta(report, 'end_turn'), report: tellOutput(report) });
  if (counted.length === 0)
    frames.push({
      stage: 'usage',
      bytes: sse(
        { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null } },
        'message_delta',
      ),
    });
  return [...frames, { stage: 'done', bytes: sse({ type: 'message_stop' }, 'message_stop') }];
}

/** An error in a stream, with usage in it. */
export function errorFrame(wire: Wire, report: Report | undefined): Frame {
  const error = { type: 'server_error', message: 'played', code: null };
  const usage = report === undefined ? {} : { usage: usageObject(wire, report) };
  if (wire === 'chat') return { stage: 'done', bytes: sse({ error, ...usage }), ...told(report) };
  if (wire === 'messages')
    return {
      stage: 'done',
      bytes: sse({ type: 'error', error: { type: 'api_error', message: 'played' }, ...usage }, 'error'),
      ...told(report),
    };
  const response = {
    id: ID,
    object: 'response',
    created_at: 1,
    status: 'failed',
    error,
    output: [],
    ...usage,
  };
  return {
    stage: 'done',
    bytes: sse({ type: 'response.failed', sequence_number: 9, response }, 'response.failed'),
    ...told(report),
  };
}

/** A frame that no other protocol has words for. */
export function foreignFrame(wire: Wire): Frame {
  if (wire === 'messages') {
    const content_block = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} };
    return {
      stage: 'content',
      bytes: sse({ type: 'content_block_start', index: 1, content_block }, 'content_block_start'),
    };
  }
  const audio = { id: 'audio_1', data: 'AAAA' };
  const choices = [{ index: 0, delta: { audio }, finish_reason: null }];
  return {
    stage: 'content',
    bytes: sse({ id: ID, object: 'chat.completion.chunk', created: 1, model: MODEL, choices }),
  };
}

/** A frame before or with content, of so many bytes. */
export function largeFrame(wire: Wire, stage: 'preamble' | 'content', bytes: number): Frame {
  const text = filling(bytes);
  const said = stage === 'content' ? text : '';
  if (wire === 'messages') {
    const delta = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } };
    const frame = stage === 'content' ? delta : { type: 'ping', padding: text };
    return { stage, bytes: sse(frame, frame.type) };
  }
  if (wire === 'chat') {
    const choices = [{ index: 0, delta: { role: 'assistant', content: said }, finish_reason: null }];
    const filler = stage === 'content' ? {} : { system_fingerprint: text };
    const frame = { id: ID, object: 'chat.completion.chunk', created: 1, model: MODEL, choices, ...filler };
    return { stage, bytes: sse(frame) };
  }
  const response = { id: ID, object: 'response', created_at: 1, status: 'in_progress', instructions: text };
  const at = { item_id: 'msg_played', output_index: 0, content_index: 0 };
  const frame =
    stage === 'content'
      ? { type: 'response.output_text.delta', sequence_number: 8, ...at, delta: text }
      : { type: 'response.in_progress', sequence_number: 8, response };
  return { stage, bytes: sse(frame, frame.type) };
}
