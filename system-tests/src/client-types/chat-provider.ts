import type OpenAI from 'openai';
import { type AnswerUsage, type ModelAnswer, piecesOf } from './model-answers.ts';

type Chunk = OpenAI.ChatCompletionChunk;
type Delta = OpenAI.ChatCompletionChunk.Choice.Delta & { reasoning_content?: string };

const CREATED_S = 1_790_000_000;
const MODEL = 'gpt-sim';

/** The answer as a provider of chat completions gives it. */
export function chatWhole({ id, parts, end, usage }: ModelAnswer): OpenAI.ChatCompletion {
  const textOf = (kind: 'text' | 'thinking' | 'refusal'): string =>
    parts.map((part) => (part.kind === kind ? part.text : '')).join('');
  const calls = parts.flatMap((part) => (part.kind === 'call' ? [part] : []));
  const thought = textOf('thinking');
  const message: OpenAI.ChatCompletionMessage & { reasoning_content?: string } = {
    role: 'assistant',
    content: textOf('text') || null,
    refusal: textOf('refusal') || null,
    ...(thought === '' ? {} : { reasoning_content: thought }),
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map((call) => ({
            id: call.id,
            type: 'function',
            function: { name: call.name, arguments: call.json },
          })),
        }),
  };
  return {
    id: `chatcmpl-${id}`,
    object: 'chat.completion',
    created: CREATED_S,
    model: MODEL,
    system_fingerprint: 'fp_sim',
    service_tier: 'default',
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishOf(end, calls.length) }],
    usage: usageOf(usage),
  };
}

export function chatFrames({ id, parts, end, usage, pieceLength }: ModelAnswer): string[] {
  const deltas: Delta[] = [{ role: 'assistant', content: '', refusal: null }];
  let calls = 0;
  for (const part of parts)
    if (part.kind === 'call') {
      const index = calls++;
      const named = { index, id: part.id, type: 'function' as const };
      deltas.push({ tool_calls: [{ ...named, function: { name: part.name, arguments: '' } }] });
      for (const piece of piecesOf(part.json, pieceLength))
        deltas.push({ tool_calls: [{ index, function: { arguments: piece } }] });
    } else if (part.kind !== 'redacted')
      for (const piece of piecesOf(part.text, pieceLength)) deltas.push(deltaOf(part.kind, piece));
  const head = {
    id: `chatcmpl-${id}`,
    object: 'chat.completion.chunk' as const,
    created: CREATED_S,
    model: MODEL,
  };
  const chunks: Chunk[] = [
    ...deltas.map((delta) => ({ ...head, choices: [{ index: 0, delta, finish_reason: null }] })),
    { ...head, choices: [{ index: 0, delta: {}, finish_reason: finishOf(end, calls) }] },
    { ...head, choices: [], usage: usageOf(usage) },
  ];
  return [...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), 'data: [DONE]\n\n'];
}

function deltaOf(kind: 'text' | 'thinking' | 'refusal', piece: string): Delta {
  if (kind === 'thinking') return { reasoning_content: piece };
  return kind === 'text' ? { content: piece } : { refusal: piece };
}

function finishOf(
  end: ModelAnswer['end'],
  calls: number,
): 'stop' | 'length' | 'tool_calls' | 'content_filter' {
  if (end === 'length') return 'length';
  if (end === 'refusal') return 'content_filter';
  return calls > 0 ? 'tool_calls' : 'stop';
}

function usageOf({ input, output, cacheRead, reasoning }: AnswerUsage): OpenAI.CompletionUsage {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cacheRead, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}
