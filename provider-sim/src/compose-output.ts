import { randomFrom, textPieces, wordPieces } from './content.ts';
import type { Fault } from './fault.ts';
import { indexedFrame, safeTag } from './indexed-frames.ts';

export interface Piece {
  text: string;
  tokens: number;
}

/** What the model says, before any protocol dresses it. */
export interface Output {
  toolName: string | null;
  finish: 'stop' | 'length' | 'tool_calls';
  tokens: number;
  pieces(): Iterable<Piece>;
}

export interface OutputRequest {
  seed: number;
  /** The most output tokens the request allows. */
  cap: number | null;
  /** Text that has to be said exactly, such as JSON for a schema. */
  fixedText: string | null;
  toolName: string | null;
}

const frameBytesDefault = 64;
const framesDefault = 10;

export function composeOutput(request: OutputRequest, fault: Fault): Output {
  const cap = fault.ignoreCap === true || request.cap === null ? Number.POSITIVE_INFINITY : request.cap;
  if (request.fixedText !== null) return composeFixed(textPieces(request.fixedText), request.toolName, cap);
  if (fault.says !== undefined) return composeFixed(fault.says.match(/\s*\S+/g) ?? [], null, cap);
  if (fault.frames !== undefined || fault.frameBytes !== undefined)
    return composeIndexed(request, fault, cap);
  const wanted = fault.outputTokens ?? 8 + Math.floor(randomFrom(request.seed)() * 17);
  const tokens = Math.min(wanted, cap);
  return {
    toolName: null,
    finish: tokens < wanted ? 'length' : 'stop',
    tokens,
    *pieces() {
      for (const text of wordPieces(request.seed, tokens)) yield { text, tokens: 1 };
    },
  };
}

function composeFixed(all: readonly string[], toolName: string | null, cap: number): Output {
  const said = all.length > cap ? all.slice(0, cap) : all;
  const whole = toolName === null ? 'stop' : 'tool_calls';
  return {
    toolName,
    finish: said.length < all.length ? 'length' : whole,
    tokens: said.length,
    *pieces() {
      for (const piece of said) yield { text: piece, tokens: 1 };
    },
  };
}

/** Tokens are spread over the frames, the remainder over the first of them. */
function composeIndexed(request: OutputRequest, fault: Fault, cap: number): Output {
  const wantedFrames = fault.frames ?? framesDefault;
  const wantedTokens = fault.outputTokens ?? wantedFrames;
  const tokens = Math.min(wantedTokens, cap);
  const frames = Math.min(wantedFrames, tokens);
  const tag = safeTag(fault.tag ?? request.seed.toString(16));
  const bytes = fault.frameBytes ?? frameBytesDefault;
  return {
    toolName: null,
    finish: tokens < wantedTokens ? 'length' : 'stop',
    tokens,
    *pieces() {
      for (let index = 0; index < frames; index += 1) {
        const share = Math.floor(tokens / frames) + (index < tokens % frames ? 1 : 0);
        yield { text: indexedFrame(tag, index, frames, bytes), tokens: share };
      }
    },
  };
}

export function textOf(output: Output): string {
  let text = '';
  for (const piece of output.pieces()) text += piece.text;
  return text;
}
