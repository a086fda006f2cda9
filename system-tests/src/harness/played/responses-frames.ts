import { eventFrame, PLAYED_USAGE, type PlayedTurn, piecesOf, signatureOf } from './played-turn.ts';

type Event = Record<string, unknown> & { readonly type: string };

/** The turn as OpenAI's responses stream it. Content begins after the second frame. */
export function responsesFrames(turn: PlayedTurn, model: string): string[] {
  const { input, cacheRead, output } = PLAYED_USAGE;
  const items = itemsOf(turn);
  const response = { id: `resp_${turn.number}`, object: 'response', created_at: 1_767_225_600, model };
  const usage = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cacheRead },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  };
  const events: Event[] = [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    { type: 'response.in_progress', response: { ...response, status: 'in_progress', output: [] } },
    ...items.flatMap(({ begun, between, done }, output_index): Event[] => [
      { type: 'response.output_item.added', output_index, item: begun },
      ...between.map((event) => ({ ...event, item_id: done.id, output_index })),
      { type: 'response.output_item.done', output_index, item: done },
    ]),
    {
      type: 'response.completed',
      response: { ...response, status: 'completed', output: items.map(({ done }) => done), usage },
    },
  ];
  return events.map((event, sequence_number) => eventFrame({ ...event, sequence_number }));
}

interface Item {
  readonly begun: object;
  readonly between: readonly Event[];
  readonly done: Readonly<Record<string, unknown>> & { readonly id: string };
}

function itemsOf({ number, thought, text, calls }: PlayedTurn): Item[] {
  return [
    ...(thought === null ? [] : [reasoning(number, thought)]),
    ...(text === null ? [] : [message(number, text)]),
    ...calls.map(({ id, name, input }) => functionCall(id, name, JSON.stringify(input))),
  ];
}

function reasoning(number: number, thought: string): Item {
  const item = { type: 'reasoning', id: `rs_${number}`, encrypted_content: signatureOf(number) };
  const part = { type: 'summary_text', text: thought };
  const place = { summary_index: 0 };
  return {
    begun: { ...item, summary: [] },
    between: [
      { type: 'response.reasoning_summary_part.added', ...place, part: { ...part, text: '' } },
      ...piecesOf(thought).map((delta) => ({
        type: 'response.reasoning_summary_text.delta',
        ...place,
        delta,
      })),
      { type: 'response.reasoning_summary_text.done', ...place, text: thought },
      { type: 'response.reasoning_summary_part.done', ...place, part },
    ],
    done: { ...item, summary: [part] },
  };
}

function message(number: number, text: string): Item {
  const item = { type: 'message', id: `msg_${number}`, role: 'assistant' };
  const part = { type: 'output_text', text, annotations: [] };
  const place = { content_index: 0 };
  return {
    begun: { ...item, status: 'in_progress', content: [] },
    between: [
      { type: 'response.content_part.added', ...place, part: { ...part, text: '' } },
      ...piecesOf(text).map((delta) => ({ type: 'response.output_text.delta', ...place, delta })),
      { type: 'response.output_text.done', ...place, text },
      { type: 'response.content_part.done', ...place, part },
    ],
    done: { ...item, status: 'completed', content: [part] },
  };
}

function functionCall(callId: string, name: string, input: string): Item {
  const item = { type: 'function_call', id: `fc_${callId}`, call_id: callId, name };
  return {
    begun: { ...item, status: 'in_progress', arguments: '' },
    between: [
      ...piecesOf(input, 7).map((delta) => ({ type: 'response.function_call_arguments.delta', delta })),
      { type: 'response.function_call_arguments.done', arguments: input },
    ],
    done: { ...item, status: 'completed', arguments: input },
  };
}
