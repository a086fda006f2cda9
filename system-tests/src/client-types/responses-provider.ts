import type OpenAI from 'openai';
import { type AnswerPart, type AnswerUsage, type ModelAnswer, piecesOf } from './model-answers.ts';

type Wire = Omit<OpenAI.Responses.Response, 'output_text'>;
type Item = OpenAI.Responses.ResponseOutputItem;
/** An event without its number. */
type Said = { readonly type: string } & Readonly<Record<string, unknown>>;

/** The answer as a provider of Responses gives it. */
export function responsesWhole(answer: ModelAnswer): Wire {
  const status = answer.end === 'length' ? ('incomplete' as const) : ('completed' as const);
  return {
    id: `resp_${answer.id}`,
    object: 'response',
    created_at: 1_790_000_000,
    status,
    error: null,
    incomplete_details: status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
    instructions: null,
    metadata: {},
    model: 'gpt-sim',
    output: answer.parts.map((part, index) => itemOf(answer, part, index)),
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    access_programs: null,
    usage: usageOf(answer.usage),
  };
}

export function responsesFrames(answer: ModelAnswer): string[] {
  const whole = responsesWhole(answer);
  const { usage: _usage, ...rest } = whole;
  const begun = { ...rest, status: 'in_progress', incomplete_details: null, output: [] };
  const events: Said[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...answer.parts.flatMap((part, output_index): Said[] => {
      const item = itemOf(answer, part, output_index);
      return [
        { type: 'response.output_item.added', output_index, item: emptied(item) },
        ...between(item, answer.pieceLength).map((event) => ({ ...event, item_id: item.id, output_index })),
        { type: 'response.output_item.done', output_index, item },
      ];
    }),
    { type: `response.${whole.status}`, response: whole },
  ];
  return events.map(
    (event, sequence_number) =>
      `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`,
  );
}

function itemOf({ id }: ModelAnswer, part: AnswerPart, index: number): Item & { readonly id: string } {
  const place = `${id}_${index}`;
  switch (part.kind) {
    case 'text':
      return message(place, { type: 'output_text', text: part.text, annotations: [], logprobs: [] });
    case 'refusal':
      return message(place, { type: 'refusal', refusal: part.text });
    case 'thinking':
      return {
        id: `rs_${place}`,
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: part.text }],
        encrypted_content: part.signature,
      };
    case 'redacted':
      return { id: `rs_${place}`, type: 'reasoning', summary: [], encrypted_content: part.data };
    case 'call': {
      const { id: call_id, name, json } = part;
      const said = { call_id, name, arguments: json, status: 'completed' as const };
      return { id: `fc_${place}`, type: 'function_call', ...said };
    }
  }
}

function message(place: string, part: OpenAI.Responses.ResponseOutputMessage['content'][number]) {
  const said = { type: 'message', role: 'assistant', status: 'completed' } as const;
  return { id: `msg_${place}`, ...said, content: [part] };
}

function emptied(item: Item): Item {
  if (item.type === 'message') return { ...item, status: 'in_progress', content: [] };
  if (item.type === 'reasoning') return { ...item, summary: [] };
  return item.type === 'function_call' ? { ...item, status: 'in_progress', arguments: '' } : item;
}

function between(item: Item, length: number): Said[] {
  if (item.type === 'message') return item.content.flatMap((part) => partEvents(part, length));
  if (item.type === 'reasoning') return item.summary.flatMap((part) => summaryEvents(part, length));
  if (item.type !== 'function_call') return [];
  return [
    ...piecesOf(item.arguments, length).map((delta) => ({
      type: 'response.function_call_arguments.delta',
      delta,
    })),
    { type: 'response.function_call_arguments.done', arguments: item.arguments },
  ];
}

function partEvents(part: OpenAI.Responses.ResponseOutputMessage['content'][number], length: number): Said[] {
  const place = { content_index: 0 };
  const isText = part.type === 'output_text';
  const [text, empty] = isText
    ? [part.text, { ...part, text: '' }]
    : [part.refusal, { ...part, refusal: '' }];
  return [
    { type: 'response.content_part.added', ...place, part: empty },
    ...piecesOf(text, length).map((delta) => ({
      type: `response.${part.type}.delta`,
      ...place,
      delta,
      ...(isText ? { logprobs: [] } : {}),
    })),
    {
      type: `response.${part.type}.done`,
      ...place,
      ...(isText ? { text, logprobs: [] } : { refusal: text }),
    },
    { type: 'response.content_part.done', ...place, part },
  ];
}

function summaryEvents(part: { readonly text: string }, length: number): Said[] {
  const place = { summary_index: 0 };
  const { text } = part;
  return [
    { type: 'response.reasoning_summary_part.added', ...place, part: { ...part, text: '' } },
    ...piecesOf(text, length).map((delta) => ({
      type: 'response.reasoning_summary_text.delta',
      ...place,
      delta,
    })),
    { type: 'response.reasoning_summary_text.done', ...place, text },
    { type: 'response.reasoning_summary_part.done', ...place, part },
  ];
}

function usageOf({ input, output, cacheRead, cacheWritten, reasoning }: AnswerUsage) {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWritten },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
}
