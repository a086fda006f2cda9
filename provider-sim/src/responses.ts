import {
  type Answer,
  type Ask,
  type AskContext,
  cachedTokensOf,
  createdAtSeconds,
  type Frame,
  idFrom,
  usageFor,
} from './ask.ts';
import { composeOutput, type Output, textOf } from './compose-output.ts';
import { seedOf } from './content.ts';
import { type Fault, isRecord, parseFault } from './fault.ts';
import { refusalForStatus } from './openai-error.ts';
import { firstNumber, forcedTool, promptOf, structuredText } from './read-prompt.ts';
import type { ReportedUsage } from './request-log.ts';
import { unknownFieldsOf } from './validate-fields.ts';
import { responsesFields } from './validate-responses.ts';

interface ResponsesPlan {
  seed: number;
  body: Record<string, unknown>;
  fault: Fault;
  output: Output;
  usage: ReportedUsage | null;
}

type Status = 'in_progress' | 'completed' | 'incomplete' | 'failed';

export function readResponses(body: Record<string, unknown>, context: AskContext): Ask {
  const prompt = promptOf([body['instructions'], body['input']], body['tools']);
  const seed = seedOf(prompt.text, context.seed);
  const tool = forcedTool(body);
  const format = isRecord(body['text']) ? body['text']['format'] : null;
  const fixedText = tool?.argumentsText ?? structuredText(format);
  return {
    operation: 'responses',
    model: String(body['model']),
    stream: body['stream'] === true,
    fault: body['sim'] === undefined ? null : parseFault(body['sim']),
    unknownFields: unknownFieldsOf(body, responsesFields),
    answer(fault) {
      const cap = firstNumber(body['max_output_tokens']);
      const output = composeOutput({ seed, cap, fixedText, toolName: tool?.name ?? null }, fault);
      const promptTokens = fault.promptTokens ?? prompt.tokens;
      const usage = usageFor(fault, promptTokens, output.tokens);
      return answerOf({ seed, body, fault, output, usage }, promptTokens);
    },
  };
}

function answerOf(plan: ResponsesPlan, promptTokens: number): Answer {
  const status = plan.output.finish === 'length' ? 'incomplete' : 'completed';
  return {
    promptTokens,
    completionTokens: plan.output.tokens,
    reported: plan.usage,
    body() {
      const usage = plan.usage === null ? '' : `,"usage":${JSON.stringify(usageOf(plan, plan.usage))}`;
      const twice = plan.fault.usageTwice === true ? usage : '';
      const text = JSON.stringify({
        ...responseObject(plan, status, [itemOf(plan, status)]),
        usage: undefined,
      });
      return `${text.slice(0, -1)}${usage}${twice}}\n`;
    },
    frames: () => responsesFrames(plan),
    errorFrame(framesSent) {
      const { message, code } = refusalForStatus(500);
      if (plan.fault.responseFailed === true) {
        const failed = { ...responseObject(plan, 'failed', []), error: { code, message } };
        return sse({ type: 'response.failed', sequence_number: framesSent, response: failed });
      }
      return sse({ type: 'error', sequence_number: framesSent, code, message, param: null });
    },
  };
}

function sse(event: { type: string; [name: string]: unknown }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

function usageOf(plan: ResponsesPlan, usage: ReportedUsage): Record<string, unknown> {
  return {
    input_tokens: usage.promptTokens,
    input_tokens_details: { cached_tokens: cachedTokensOf(plan.fault, usage), cache_write_tokens: 0 },
    output_tokens: usage.completionTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: usage.promptTokens + usage.completionTokens,
  };
}

function responseObject(plan: ResponsesPlan, status: Status, output: unknown[]): Record<string, unknown> {
  const { body } = plan;
  const finished = status === 'completed' || status === 'incomplete';
  return {
    id: idFrom('resp_', plan.seed),
    object: 'response',
    created_at: createdAtSeconds,
    status,
    background: false,
    completed_at: status === 'completed' ? createdAtSeconds : null,
    error: null,
    incomplete_details: status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
    instructions: body['instructions'] ?? null,
    max_output_tokens: body['max_output_tokens'] ?? null,
    model: body['model'],
    output,
    parallel_tool_calls: body['parallel_tool_calls'] ?? true,
    previous_response_id: body['previous_response_id'] ?? null,
    reasoning: { effort: null, summary: null },
    service_tier: 'default',
    store: body['store'] ?? true,
    temperature: body['temperature'] ?? 1,
    text: body['text'] ?? { format: { type: 'text' } },
    tool_choice: body['tool_choice'] ?? 'auto',
    tools: body['tools'] ?? [],
    top_p: body['top_p'] ?? 1,
    truncation: 'disabled',
    user: body['user'] ?? null,
    metadata: body['metadata'] ?? {},
    usage: finished && plan.usage !== null ? usageOf(plan, plan.usage) : null,
  };
}

function textPart(text: string): Record<string, unknown> {
  return { type: 'output_text', annotations: [], logprobs: [], text };
}

/** The one output item, whole or as it looks before anything was said. */
function itemOf(plan: ResponsesPlan, status: Status): Record<string, unknown> {
  const said = status === 'in_progress' ? '' : textOf(plan.output);
  if (plan.output.toolName !== null) {
    const callId = idFrom('call_', plan.seed);
    return {
      id: idFrom('fc_', plan.seed),
      type: 'function_call',
      status,
      arguments: said,
      call_id: callId,
      name: plan.output.toolName,
    };
  }
  const content = status === 'in_progress' ? [] : [textPart(said)];
  return { id: idFrom('msg_', plan.seed), type: 'message', status, content, role: 'assistant' };
}

function* responsesFrames(plan: ResponsesPlan): Generator<Frame> {
  const { fault, output } = plan;
  let sequence = 0;
  function event(type: string, fields: Record<string, unknown>, tokens = 0, content = false): Frame {
    const text = sse({ type, sequence_number: sequence, ...fields });
    sequence += 1;
    return { text, tokens, content };
  }

  const started = responseObject(plan, 'in_progress', []);
  yield event('response.created', { response: started });
  for (let sent = 0; sent <= (fault.preambleFrames ?? 0); sent += 1) {
    yield event('response.in_progress', { response: started });
  }
  yield event('response.output_item.added', { output_index: 0, item: itemOf(plan, 'in_progress') });
  yield* output.toolName === null ? textEvents(plan, event) : callEvents(plan, event);
  const status = output.finish === 'length' ? 'incomplete' : 'completed';
  const item = itemOf(plan, status);
  yield event('response.output_item.done', { output_index: 0, item });
  const response = responseObject(plan, status, [item]);
  yield event(`response.${status}`, { response });
  if (fault.usageTwice === true) yield event(`response.${status}`, { response });
}

type EventMaker = (
  type: string,
  fields: Record<string, unknown>,
  tokens?: number,
  content?: boolean,
) => Frame;

function* textEvents(plan: ResponsesPlan, event: EventMaker): Generator<Frame> {
  const place = { item_id: idFrom('msg_', plan.seed), output_index: 0, content_index: 0 };
  yield event('response.content_part.added', { ...place, part: textPart('') });
  let text = '';
  for (const piece of plan.output.pieces()) {
    text += piece.text;
    yield event(
      'response.output_text.delta',
      { ...place, delta: piece.text, logprobs: [] },
      piece.tokens,
      true,
    );
  }
  yield event('response.output_text.done', { ...place, text, logprobs: [] });
  yield event('response.content_part.done', { ...place, part: textPart(text) });
}

function* callEvents(plan: ResponsesPlan, event: EventMaker): Generator<Frame> {
  const place = { item_id: idFrom('fc_', plan.seed), output_index: 0 };
  let text = '';
  for (const piece of plan.output.pieces()) {
    text += piece.text;
    yield event(
      'response.function_call_arguments.delta',
      { ...place, delta: piece.text },
      piece.tokens,
      true,
    );
  }
  const name = plan.output.toolName;
  yield event('response.function_call_arguments.done', { ...place, name, arguments: text });
}
