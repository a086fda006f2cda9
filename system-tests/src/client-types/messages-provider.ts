import type Anthropic from '@anthropic-ai/sdk';
import { type AnswerPart, type AnswerUsage, type ModelAnswer, piecesOf } from './model-answers.ts';

type Event = Anthropic.RawMessageStreamEvent;

/** The answer as a provider of Messages gives it. */
export function messagesWhole(answer: ModelAnswer): Anthropic.Message {
  const { usage } = answer;
  return {
    ...headOf(answer),
    content: answer.parts.map(blockOf),
    ...endOf(answer),
    usage: usageOf(usage, usage.output),
  };
}

export function messagesFrames(answer: ModelAnswer): string[] {
  const { usage } = answer;
  const ended = { stop_details: null, stop_reason: null, stop_sequence: null };
  const message = { ...headOf(answer), content: [], ...ended, usage: usageOf(usage, 1) };
  const { cache_creation_input_tokens, cache_read_input_tokens, input_tokens, ...rest } = usageOf(
    usage,
    usage.output,
  );
  const counts = { cache_creation_input_tokens, cache_read_input_tokens, input_tokens };
  const events: (Event | { readonly type: 'ping' })[] = [
    { type: 'message_start', message },
    { type: 'ping' },
    ...answer.parts.flatMap((part, index): Event[] => [
      { type: 'content_block_start', index, content_block: emptied(blockOf(part)) },
      ...deltasOf(part, answer.pieceLength).map((delta) => ({
        type: 'content_block_delta' as const,
        index,
        delta,
      })),
      { type: 'content_block_stop', index },
    ]),
    {
      type: 'message_delta',
      delta: { container: null, ...endOf(answer) },
      usage: {
        ...counts,
        output_tokens: rest.output_tokens,
        output_tokens_details: rest.output_tokens_details,
        server_tool_use: null,
      },
    },
    { type: 'message_stop' },
  ];
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

function headOf({ id }: ModelAnswer) {
  return {
    id: `msg_${id}`,
    type: 'message',
    role: 'assistant',
    model: 'claude-sim',
    container: null,
    diagnostics: null,
  } as const;
}

function endOf({ end, parts }: ModelAnswer) {
  const called = parts.some(({ kind }) => kind === 'call');
  const reasons = {
    stop: called ? ('tool_use' as const) : ('end_turn' as const),
    length: 'max_tokens' as const,
    sequence: 'stop_sequence' as const,
    refusal: 'refusal' as const,
  };
  return {
    stop_reason: reasons[end],
    stop_sequence: end === 'sequence' ? 'END' : null,
    stop_details:
      end === 'refusal'
        ? { type: 'refusal' as const, category: 'cyber' as const, explanation: 'Not allowed.' }
        : null,
  };
}

function blockOf(part: AnswerPart): Anthropic.ContentBlock {
  switch (part.kind) {
    case 'text':
    case 'refusal':
      return { type: 'text', text: part.text, citations: null };
    case 'thinking':
      return { type: 'thinking', thinking: part.text, signature: part.signature };
    case 'redacted':
      return { type: 'redacted_thinking', data: part.data };
    case 'call':
      return {
        type: 'tool_use',
        id: part.id.replace('call_', 'toolu_'),
        name: part.name,
        input: JSON.parse(part.json),
        caller: { type: 'direct' },
      };
  }
}

function emptied(block: Anthropic.ContentBlock): Anthropic.ContentBlock {
  if (block.type === 'text') return { ...block, text: '' };
  if (block.type === 'thinking') return { ...block, thinking: '', signature: '' };
  return block.type === 'tool_use' ? { ...block, input: {} } : block;
}

function deltasOf(part: AnswerPart, length: number): Anthropic.RawContentBlockDelta[] {
  switch (part.kind) {
    case 'text':
    case 'refusal':
      return piecesOf(part.text, length).map((text) => ({ type: 'text_delta', text }));
    case 'thinking':
      return [
        ...piecesOf(part.text, length).map((thinking) => ({ type: 'thinking_delta' as const, thinking })),
        { type: 'signature_delta', signature: part.signature },
      ];
    case 'call':
      return piecesOf(part.json, length).map((partial_json) => ({ type: 'input_json_delta', partial_json }));
    case 'redacted':
      return [];
  }
}

function usageOf(usage: AnswerUsage, output: number): Anthropic.Usage {
  const { input, cacheRead, cacheWritten, reasoning } = usage;
  return {
    input_tokens: input - cacheRead - cacheWritten,
    output_tokens: output,
    cache_read_input_tokens: cacheRead,
    cache_creation_input_tokens: cacheWritten,
    cache_creation: { ephemeral_5m_input_tokens: cacheWritten, ephemeral_1h_input_tokens: 0 },
    output_tokens_details: { thinking_tokens: reasoning },
    inference_geo: null,
    server_tool_use: null,
    service_tier: 'standard',
    speed: null,
  };
}
