import { type Answer, type Ask, type AskContext, type Frame, idFrom, usageFor } from '../ask.ts';
import { composeOutput, type Output, textOf } from '../compose-output.ts';
import { seedOf, textPieces } from '../content.ts';
import { type Fault, isRecord, parseFault } from '../fault.ts';
import { valueForSchema } from '../json-from-schema.ts';
import { firstNumber } from '../read-prompt.ts';
import type { ReportedUsage } from '../request-log.ts';
import { overloadedFrame } from './anthropic-error.ts';
import { type AnthropicPrompt, anthropicPrompt } from './prompt.ts';
import { messagesFields } from './validate-messages.ts';

const THOUGHT = 'The user asks something. I answer it.';

interface Plan {
  id: string;
  callId: string;
  model: string;
  fault: Fault;
  output: Output;
  /** What the model thinks first; null when it was not asked to. */
  thought: string | null;
  prompt: AnthropicPrompt;
  promptTokens: number;
  usage: ReportedUsage | null;
}

export function readMessages(body: Record<string, unknown>, context: AskContext): Ask {
  const prompt = anthropicPrompt(body);
  const seed = seedOf(prompt.text, context.seed);
  const tool = forcedTool(body);
  const model = String(body['model']);
  const { thinking } = body;
  const thinks = isRecord(thinking) && thinking['type'] !== 'disabled';
  return {
    operation: 'messages',
    model,
    stream: body['stream'] === true,
    fault: body['sim'] === undefined ? null : parseFault(body['sim']),
    unknownFields: Object.keys(body).filter((name) => !messagesFields.has(name) && name !== 'sim'),
    answer(fault) {
      const cap = firstNumber(body['max_tokens']);
      const fixedText = tool === null ? null : JSON.stringify(valueForSchema(tool['input_schema']));
      const toolName = tool === null ? null : String(tool['name']);
      const output = composeOutput({ seed, cap, fixedText, toolName }, fault);
      const promptTokens = fault.promptTokens ?? prompt.tokens;
      return answerOf({
        id: idFrom('msg_', seed),
        callId: idFrom('toolu_', seed),
        model,
        fault,
        output,
        thought: thinks ? THOUGHT : null,
        prompt,
        promptTokens,
        usage: usageFor(fault, promptTokens, output.tokens),
      });
    },
  };
}

/** Not an inference: nothing is said, and nothing counts. */
export function readCountTokens(body: Record<string, unknown>): Ask {
  const { tokens } = anthropicPrompt(body);
  return {
    operation: 'count_tokens',
    model: String(body['model']),
    stream: false,
    fault: body['sim'] === undefined ? null : parseFault(body['sim']),
    unknownFields: [],
    answer: (fault) => ({
      promptTokens: 0,
      completionTokens: 0,
      reported: null,
      body: () => JSON.stringify({ input_tokens: fault.promptTokens ?? tokens }),
      frames: () => [],
      errorFrame: () => overloadedFrame,
    }),
  };
}

/** The tool that has to be called; null unless the request forces a call. */
function forcedTool({ tools, tool_choice: choice }: Record<string, unknown>): Record<string, unknown> | null {
  if (!isRecord(choice) || !Array.isArray(tools)) return null;
  const all = tools.filter(isRecord);
  if (choice['type'] === 'any') return all[0] ?? null;
  return choice['type'] === 'tool' ? (all.find((tool) => tool['name'] === choice['name']) ?? null) : null;
}

function answerOf(plan: Plan): Answer {
  return {
    promptTokens: plan.promptTokens,
    completionTokens: plan.output.tokens,
    reported: plan.usage,
    body: () => bodyOf(plan),
    frames: () => framesOf(plan),
    errorFrame: () => overloadedFrame,
  };
}

const STOPS = { stop: 'end_turn', length: 'max_tokens', tool_calls: 'tool_use' } as const;

/** The input by where it came from: what a cache held, what was written to one, and the rest. */
function inputCounts({ prompt, fault }: Plan, { promptTokens }: ReportedUsage) {
  const { written5m, written1h } = fault.claimedInput === undefined ? prompt : { written5m: 0, written1h: 0 };
  const written = Math.min(written5m + written1h, Math.max(0, promptTokens));
  const read = Math.max(0, Math.min(fault.cachedTokens ?? 0, promptTokens - written));
  const hour = Math.min(written1h, written);
  return {
    input_tokens: promptTokens - written - read,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
    cache_creation: { ephemeral_5m_input_tokens: written - hour, ephemeral_1h_input_tokens: hour },
  };
}

function bodyOf(plan: Plan): string {
  const { output, usage, fault } = plan;
  const text = textOf(output);
  const said =
    output.toolName === null
      ? { type: 'text', text }
      : { type: 'tool_use', id: plan.callId, name: output.toolName, input: parsedInput(text) };
  const thought = plan.thought === null ? [] : [thinkingBlock(plan.thought)];
  const head = messageHead(plan, [...thought, said], STOPS[output.finish]);
  if (usage === null) return JSON.stringify(head);
  const counts = { ...inputCounts(plan, usage), output_tokens: usage.completionTokens };
  const member = `,"usage":${JSON.stringify({ ...counts, service_tier: 'standard' })}`;
  return `${JSON.stringify(head).slice(0, -1)}${member}${fault.usageTwice === true ? member : ''}}`;
}

function messageHead({ id, model }: Plan, content: readonly object[], stop: string | null) {
  return { id, type: 'message', role: 'assistant', model, content, stop_reason: stop, stop_sequence: null };
}

function thinkingBlock(thought: string) {
  return { type: 'thinking', thinking: thought, signature: signatureOf(thought) };
}

function signatureOf(thought: string): string {
  return Buffer.from(`sim:${thought}`).toString('base64');
}

/** A call that was cut by the cap has arguments that are not JSON; the API then gives none. */
function parsedInput(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

function* framesOf(plan: Plan): Generator<Frame> {
  const { output, usage, fault, thought } = plan;
  const counts = usage === null ? null : inputCounts(plan, usage);
  const started = messageHead(plan, [], null);
  const message =
    counts === null
      ? started
      : { ...started, usage: { ...counts, output_tokens: 1, service_tier: 'standard' } };
  yield event('message_start', { message });
  for (let sent = 0; sent < (fault.preambleFrames ?? 0); sent += 1) yield event('ping', {});
  let index = 0;
  if (thought !== null) {
    yield* thinkingFrames(thought);
    index = 1;
  }
  const block =
    output.toolName === null
      ? { type: 'text', text: '' }
      : { type: 'tool_use', id: plan.callId, name: output.toolName, input: {} };
  yield event('content_block_start', { index, content_block: block }, 0, output.toolName !== null);
  yield event('ping', {});
  for (const piece of output.pieces()) {
    const delta =
      output.toolName === null
        ? { type: 'text_delta', text: piece.text }
        : { type: 'input_json_delta', partial_json: piece.text };
    yield event('content_block_delta', { index, delta }, piece.tokens, true);
  }
  yield event('content_block_stop', { index });
  const delta = { stop_reason: STOPS[output.finish], stop_sequence: null };
  const { cache_creation: _parts, ...cumulative } = counts ?? { cache_creation: null };
  const closing =
    usage === null ? { delta } : { delta, usage: { ...cumulative, output_tokens: usage.completionTokens } };
  yield event('message_delta', closing);
  if (fault.usageTwice === true) yield event('message_delta', closing);
  yield event('message_stop', {});
}

function* thinkingFrames(thought: string): Generator<Frame> {
  const index = 0;
  yield event('content_block_start', {
    index,
    content_block: { type: 'thinking', thinking: '', signature: '' },
  });
  for (const piece of textPieces(thought))
    yield event(
      'content_block_delta',
      { index, delta: { type: 'thinking_delta', thinking: piece } },
      0,
      true,
    );
  const delta = { type: 'signature_delta', signature: signatureOf(thought) };
  yield event('content_block_delta', { index, delta }, 0, true);
  yield event('content_block_stop', { index });
}

function event(type: string, fields: object, tokens = 0, content = false): Frame {
  return { text: `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`, tokens, content };
}
