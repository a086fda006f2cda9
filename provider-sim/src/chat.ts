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
import { composeOutput, type Output, type Piece, textOf } from './compose-output.ts';
import { seedOf } from './content.ts';
import { type Fault, isRecord, parseFault } from './fault.ts';
import { errorBody, refusalForStatus } from './openai-error.ts';
import { firstNumber, forcedTool, promptOf, structuredText } from './read-prompt.ts';
import type { ReportedUsage } from './request-log.ts';
import { chatFields } from './validate-chat.ts';
import { unknownFieldsOf } from './validate-fields.ts';

interface ChatPlan {
  id: string;
  model: string;
  fault: Fault;
  outputs: Output[];
  callId: string;
  promptTokens: number;
  completionTokens: number;
  usage: ReportedUsage | null;
  includeUsage: boolean;
}

export function readChat(body: Record<string, unknown>, context: AskContext): Ask {
  const prompt = promptOf([body['messages']], body['tools']);
  const seed = seedOf(prompt.text, context.seed);
  const tool = forcedTool(body);
  const fixedText = tool?.argumentsText ?? structuredText(body['response_format']);
  const cap = firstNumber(body['max_completion_tokens'], body['max_tokens']);
  const choices = firstNumber(body['n']) ?? 1;
  const model = String(body['model']);
  const options = body['stream_options'];
  const asked = isRecord(options) && options['include_usage'] === true;
  const stream = body['stream'] === true;
  return {
    operation: 'chat',
    model,
    stream,
    fault: body['sim'] === undefined ? null : parseFault(body['sim']),
    unknownFields: unknownFieldsOf(body, chatFields),
    answer(fault) {
      const request = { cap, fixedText, toolName: tool?.name ?? null };
      const outputs = Array.from({ length: choices }, (_, index) =>
        composeOutput({ ...request, seed: (seed + index) >>> 0 }, fault),
      );
      const completionTokens = outputs.reduce((sum, output) => sum + output.tokens, 0);
      const promptTokens = fault.promptTokens ?? prompt.tokens;
      const streamed = fault.answerAs === undefined ? stream : fault.answerAs === 'stream';
      const includeUsage = asked || fault.usageUnasked === true;
      return answerOf(
        {
          id: idFrom('chatcmpl-', seed),
          callId: idFrom('call_', seed),
          model,
          fault,
          outputs,
          promptTokens,
          completionTokens,
          usage: usageFor(fault, promptTokens, completionTokens),
          includeUsage,
        },
        streamed,
      );
    },
  };
}

function answerOf(plan: ChatPlan, streamed: boolean): Answer {
  const told = !streamed || plan.includeUsage || plan.fault.usageCumulative === true;
  return {
    promptTokens: plan.promptTokens,
    completionTokens: plan.completionTokens,
    reported: told ? plan.usage : null,
    body: () => chatBody(plan),
    frames: () => chatFrames(plan),
    errorFrame: () => `data: ${JSON.stringify(JSON.parse(errorBody(refusalForStatus(500))))}\n\n`,
  };
}

function usageText(plan: ChatPlan, usage: ReportedUsage): string {
  const total = usage.promptTokens + usage.completionTokens;
  const cached = cachedTokensOf(plan.fault, usage);
  return (
    `{"prompt_tokens":${usage.promptTokens},"completion_tokens":${usage.completionTokens},"total_tokens":${total},` +
    `"prompt_tokens_details":{"cached_tokens":${cached},"audio_tokens":0},"completion_tokens_details":` +
    '{"reasoning_tokens":0,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}'
  );
}

function chatBody(plan: ChatPlan): string {
  const choices = plan.outputs.map((output, index) => {
    const text = textOf(output);
    const call = {
      id: `${plan.callId}_${index}`,
      type: 'function',
      function: { name: output.toolName, arguments: text },
    };
    const message =
      output.toolName === null
        ? { role: 'assistant', content: text, refusal: null, annotations: [] }
        : { role: 'assistant', content: null, tool_calls: [call], refusal: null, annotations: [] };
    return { index, message, logprobs: null, finish_reason: output.finish };
  });
  const usage = plan.usage === null ? '' : `,"usage":${usageText(plan, plan.usage)}`;
  return (
    `{"id":"${plan.id}","object":"chat.completion","created":${createdAtSeconds},` +
    `"model":${JSON.stringify(plan.model)},"choices":${JSON.stringify(choices)}${usage}` +
    `${plan.fault.usageTwice === true ? usage : ''},"service_tier":"default","system_fingerprint":"fp_sim"}\n`
  );
}

function* chatFrames(plan: ChatPlan): Generator<Frame> {
  const { fault, includeUsage, outputs } = plan;
  const head =
    `data: {"id":"${plan.id}","object":"chat.completion.chunk","created":${createdAtSeconds},` +
    `"model":${JSON.stringify(plan.model)},"service_tier":"default","system_fingerprint":"fp_sim","choices":[`;
  const tail = `]${includeUsage ? ',"usage":null' : ''}}\n\n`;
  let said = 0;
  function frame(index: number, delta: string, finish: string | null, piece: Piece | null): Frame {
    const finishText = finish === null ? 'null' : `"${finish}"`;
    said += piece?.tokens ?? 0;
    const running = { promptTokens: plan.promptTokens, completionTokens: said };
    const end = fault.usageCumulative === true ? `],"usage":${usageText(plan, running)}}\n\n` : tail;
    return {
      text: `${head}{"index":${index},"delta":${delta},"logprobs":null,"finish_reason":${finishText}}${end}`,
      tokens: piece?.tokens ?? 0,
      content: piece !== null,
    };
  }

  for (const index of outputs.keys()) {
    yield frame(index, '{"role":"assistant","content":"","refusal":null}', null, null);
  }
  for (let sent = 0; sent < (fault.preambleFrames ?? 0); sent += 1) {
    yield frame(0, sent % 2 === 0 ? '{"role":"assistant"}' : '{"content":""}', null, null);
  }
  for (const [index, output] of outputs.entries()) {
    if (output.toolName === null) continue;
    const call = `{"index":0,"id":"${plan.callId}_${index}","type":"function","function":`;
    const named = `${call}{"name":${JSON.stringify(output.toolName)},"arguments":""}}`;
    yield frame(index, `{"tool_calls":[${named}]}`, null, { text: '', tokens: 0 });
  }
  for (const [index, piece] of interleaved(outputs)) {
    const text = JSON.stringify(piece.text);
    const isCall = outputs[index]?.toolName != null;
    const delta = isCall
      ? `{"tool_calls":[{"index":0,"function":{"arguments":${text}}}]}`
      : `{"content":${text}}`;
    yield frame(index, delta, null, piece);
  }
  for (const [index, output] of outputs.entries()) yield frame(index, '{}', output.finish, null);
  if (includeUsage && plan.usage !== null) {
    const usage = `${head}],"usage":${usageText(plan, plan.usage)}}\n\n`;
    yield { text: usage, tokens: 0, content: false };
    if (fault.usageTwice === true) yield { text: usage, tokens: 0, content: false };
  }
  yield { text: 'data: [DONE]\n\n', tokens: 0, content: false };
}

/** Several choices take turns, as they do when a model writes them side by side. */
function* interleaved(outputs: Output[]): Generator<[number, Piece]> {
  const running = outputs.map((output, index) => ({ index, pieces: output.pieces()[Symbol.iterator]() }));
  while (running.length > 0) {
    for (const each of [...running]) {
      const next = each.pieces.next();
      if (next.done === true) running.splice(running.indexOf(each), 1);
      else yield [each.index, next.value];
    }
  }
}
