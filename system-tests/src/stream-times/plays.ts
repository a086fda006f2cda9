/** What a client or a provider speaks. */
export type Wire = 'chat' | 'responses' | 'messages';

export const WORDS = ['one ', 'two ', 'three '];

/** What a provider writes, and how long it waits before. */
export interface Step {
  readonly afterMs: number;
  readonly bytes: string;
  readonly isKeepAlive?: true;
}

/** How the provider's connection ends after its last step. */
export type End = 'clean' | 'cut';

export interface Play {
  readonly headAfterMs: number;
  readonly steps: readonly Step[];
  readonly end: End;
}

export const COMMENT = ': PROCESSING\n\n';

/** The keep-alive of each protocol; a chat has only comments. */
export const KEEP_ALIVES: Readonly<Record<Wire, string>> = {
  chat: COMMENT,
  responses: 'event: keepalive\ndata: {"type":"keepalive","sequence_number":4}\n\n',
  messages: 'event: ping\ndata: {"type":"ping"}\n\n',
};

interface Frames {
  readonly opening: string;
  readonly rest: string;
}

const dataFrame = (payload: object) => `data: ${JSON.stringify(payload)}\n\n`;
const eventFrames = (events: readonly object[]) =>
  events.map((event) => `event: ${(event as { type: string }).type}\n${dataFrame(event)}`).join('');

function chatFrames(): Frames {
  const base = { id: 'chatcmpl-played', object: 'chat.completion.chunk', created: 1, model: 'played-model' };
  const choice = (delta: object, finish_reason: string | null = null) =>
    dataFrame({ ...base, choices: [{ index: 0, delta, finish_reason }] });
  const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
  return {
    opening: choice({ role: 'assistant', content: '' }),
    rest: [
      ...WORDS.map((content) => choice({ content })),
      choice({}, 'stop'),
      dataFrame({ ...base, choices: [], usage }),
      'data: [DONE]\n\n',
    ].join(''),
  };
}

function messagesFrames(): Frames {
  const common = { id: 'msg_played', type: 'message', role: 'assistant', model: 'played-model', content: [] };
  const usage = { input_tokens: 11, output_tokens: 1 };
  const message = { ...common, stop_reason: null, stop_sequence: null, usage };
  const delta = (text: string) => ({
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'text_delta', text },
  });
  return {
    opening: eventFrames([
      { type: 'message_start', message },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ]),
    rest: eventFrames([
      ...WORDS.map(delta),
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: 7 },
      },
      { type: 'message_stop' },
    ]),
  };
}

function responsesFrames(): Frames {
  const response = (status: string, more: object = {}) => ({
    response: {
      id: 'resp_played',
      object: 'response',
      created_at: 1,
      model: 'played-model',
      status,
      output: [],
      ...more,
    },
  });
  const item = { type: 'message', id: 'msg_played', role: 'assistant', status: 'in_progress', content: [] };
  const at = { item_id: 'msg_played', output_index: 0, content_index: 0 };
  const opening = [
    { type: 'response.created', ...response('in_progress') },
    { type: 'response.output_item.added', output_index: 0, item },
  ];
  const usage = { input_tokens: 11, output_tokens: 7, total_tokens: 18 };
  const rest = [
    ...WORDS.map((delta) => ({ type: 'response.output_text.delta', ...at, delta })),
    { type: 'response.output_text.done', ...at, text: WORDS.join('') },
    { type: 'response.completed', ...response('completed', { usage }) },
  ];
  const numbered = (events: readonly object[], first: number) =>
    eventFrames(events.map((event, index) => ({ ...event, sequence_number: first + index })));
  return { opening: numbered(opening, 0), rest: numbered(rest, opening.length) };
}

const FRAMES: Readonly<Record<Wire, () => Frames>> = {
  chat: chatFrames,
  responses: responsesFrames,
  messages: messagesFrames,
};

/** The frames of a short answer: those before its content, and the others. */
export function framesOf(wire: Wire): Frames {
  return FRAMES[wire]();
}

/** Ways to be silent before the first content. */
export const silences = ['thinks first', 'pings', 'comments', 'slow head'] as const;
export type Silence = (typeof silences)[number];

export function silentPlay(wire: Wire, silence: Silence, silentMs: number, everyMs: number): Play {
  const { opening, rest } = framesOf(wire);
  if (silence === 'slow head') {
    const halfMs = silentMs / 2;
    return { headAfterMs: halfMs, steps: [{ afterMs: halfMs, bytes: opening + rest }], end: 'clean' };
  }
  const first: Step = { afterMs: 0, bytes: opening };
  if (silence === 'thinks first')
    return { headAfterMs: 0, steps: [first, { afterMs: silentMs, bytes: rest }], end: 'clean' };
  const bytes = silence === 'pings' ? KEEP_ALIVES[wire] : COMMENT;
  const count = Math.ceil(silentMs / everyMs) - 1;
  const keepAlives = Array.from(
    { length: count },
    (): Step => ({ afterMs: everyMs, bytes, isKeepAlive: true }),
  );
  const last: Step = { afterMs: silentMs - count * everyMs, bytes: rest };
  return { headAfterMs: 0, steps: [first, ...keepAlives, last], end: 'clean' };
}
