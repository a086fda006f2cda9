import { randomBytes } from 'node:crypto';
import type { Piece, Report } from './bill.ts';

/** What a provider speaks, and what a client asks in. */
export type Wire = 'chat' | 'responses' | 'messages';

export interface Telling {
  /** Reports, in order; the last is what the request used. */
  readonly reports: readonly Report[];
  /** Usage comes before the content, as far as the protocol has a place for it. */
  readonly early?: boolean;
  /** So many bytes of padding in the frame that reports usage, or in an answer in one piece. */
  readonly padding?: number;
  readonly tier?: { readonly name: string; readonly inContentOnly?: boolean };
}

/** Text that hardly compresses: what expands too much is read no further. */
export function filling(bytes: number): string {
  return randomBytes(Math.ceil(bytes / 2)).toString('hex');
}

export const WORDS = ['one ', 'two ', 'three '];
export const ID = 'played';
export const MODEL = 'played-model';

export function usageObject(wire: Wire, { input, cached, output }: Report): Record<string, unknown> {
  if (wire === 'messages')
    return {
      ...(input === undefined ? {} : { input_tokens: input - (cached ?? 0) }),
      ...(input === undefined || cached === undefined ? {} : { cache_read_input_tokens: cached }),
      ...(output === undefined ? {} : { output_tokens: output }),
    };
  const [inputName, outputName] =
    wire === 'chat' ? ['prompt_tokens', 'completion_tokens'] : ['input_tokens', 'output_tokens'];
  const detailsName = wire === 'chat' ? 'prompt_tokens_details' : 'input_tokens_details';
  return {
    ...(input === undefined ? {} : { [inputName]: input }),
    ...(output === undefined ? {} : { [outputName]: output }),
    ...(input === undefined || output === undefined ? {} : { total_tokens: input + output }),
    ...(cached === undefined ? {} : { [detailsName]: { cached_tokens: cached } }),
  };
}

/** An answer in one piece, in two pieces: with `early` usage is in the first, otherwise in the second. */
export function wholeAnswer(wire: Wire, telling: Telling, content: object = wholeContent(wire)): Piece[] {
  const { reports, early = false, padding = 0, tier } = telling;
  const report = reports.at(-1);
  const usage = report === undefined ? {} : { usage: usageObject(wire, report) };
  const tierOf = tier === undefined ? {} : { service_tier: tier.name };
  const inUsage =
    wire === 'messages' && report !== undefined && tier !== undefined
      ? { usage: { ...usageObject(wire, report), ...tierOf } }
      : { ...usage, ...(wire === 'messages' ? {} : tierOf) };
  const filler = padding === 0 ? {} : { padding: filling(padding) };
  const start = JSON.stringify({ id: ID, ...(early ? inUsage : {}), model: MODEL }).slice(0, -1);
  const rest = JSON.stringify({ ...content, ...filler, ...(early ? {} : inUsage) }).slice(1);
  const at = Math.floor(rest.length / 2);
  const told = report === undefined ? {} : { report };
  const first = Buffer.from(`${start},${early ? rest.slice(0, at) : rest.slice(0, 10)}`);
  const second = Buffer.from(early ? rest.slice(at) : rest.slice(10));
  return [
    { bytes: first, ...(early ? told : {}) },
    { bytes: second, ...(early ? {} : told) },
  ];
}

function wholeContent(wire: Wire): object {
  const text = WORDS.join('');
  if (wire === 'chat')
    return {
      object: 'chat.completion',
      created: 1,
      choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
    };
  if (wire === 'messages')
    return {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'text', text }],
      stop_reason: 'end_turn',
      stop_sequence: null,
    };
  return {
    object: 'response',
    created_at: 1,
    status: 'completed',
    output: [
      {
        type: 'message',
        id: 'msg_played',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text, annotations: [] }],
      },
    ],
  };
}

/** Content that no other protocol has words for. */
export function foreignContent(wire: Wire): object {
  if (wire === 'messages')
    return {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } }],
      stop_reason: 'end_turn',
      stop_sequence: null,
    };
  const audio = { id: 'audio_1', data: 'AAAA', transcript: 'one', expires_at: 1 };
  return {
    object: 'chat.completion',
    created: 1,
    choices: [{ index: 0, message: { role: 'assistant', content: null, audio }, finish_reason: 'stop' }],
  };
}

/** An error as the protocol's providers say it, with usage beside it. */
export function errorBody(wire: Wire, report: Report | undefined, padding = 0, early = false): Piece[] {
  const error = { message: 'played', type: 'api_error', ...(wire === 'messages' ? {} : { code: null }) };
  const usage = report === undefined ? {} : { usage: usageObject(wire, report) };
  const filler = padding === 0 ? {} : { padding: filling(padding) };
  const type = wire === 'messages' ? { type: 'error' } : {};
  const body = early ? { ...usage, ...type, error, ...filler } : { ...type, error, ...filler, ...usage };
  const text = JSON.stringify(body);
  // Either all of the usage is in the first piece, or nothing of it.
  const at = early ? JSON.stringify(usage).length + 4 : 5;
  const told = report === undefined ? {} : { report };
  const inFirst = early ? told : {};
  const inSecond = early ? {} : told;
  return [
    { bytes: Buffer.from(text.slice(0, at)), ...inFirst },
    { bytes: Buffer.from(text.slice(at)), ...inSecond },
  ];
}
