import type { Sealed } from '../seal.ts';
import type { Part } from './parts.ts';

interface Call {
  readonly kind: 'call';
  readonly callId: string;
  readonly name: string;
  readonly json: string;
  /** The field that has the input. */
  readonly path: string;
}

export type AssistantBlock =
  | Part
  | Call
  | { readonly kind: 'thinking'; readonly signature: string; readonly text: string }
  | Extract<Sealed, { kind: 'redacted_thinking' | 'members' }>
  /** Thinking whose text the provider wants back. */
  | { readonly kind: 'returned_thinking'; readonly text: string; readonly path: string };

/** One item of the input, or one part of an assistant's message. */
export type Entry =
  | SystemTurn
  | UserTurn
  | { readonly kind: 'assistant'; readonly block: AssistantBlock }
  | ({ readonly kind: 'result' } & ToolResult);

export type Turn =
  | SystemTurn
  | UserTurn
  | { readonly kind: 'assistant'; readonly blocks: AssistantBlock[] }
  | { readonly kind: 'results'; readonly results: ToolResult[] };

export interface SystemTurn {
  readonly kind: 'system';
  readonly texts: readonly string[];
  /** The field that gives it its role. */
  readonly path: string;
}

export interface UserTurn {
  readonly kind: 'user';
  readonly parts: readonly Part[];
}

export interface ToolResult {
  readonly callId: string;
  readonly parts: readonly Part[];
}

/**
 * Responses list items; the others have turns. What the assistant said and called becomes one turn, and the results of its calls
 * follow directly, which both other protocols require and Responses do not.
 */
export function groupTurns(entries: readonly Entry[]): readonly Turn[] {
  const unplaced = new Map<string, ToolResult[]>();
  for (const entry of entries) if (entry.kind === 'result') addTo(unplaced, entry.callId, entry);
  const turns: Turn[] = [];
  let called: string[] = [];
  const placeResults = (): void => {
    for (const callId of called) place(turns, unplaced.get(callId)?.shift());
    called = [];
  };
  for (const entry of entries) {
    if (entry.kind === 'assistant') {
      addBlock(turns, entry.block);
      if (entry.block.kind === 'call') called.push(entry.block.callId);
      continue;
    }
    placeResults();
    if (entry.kind !== 'result') turns.push(entry);
    else if (unplaced.get(entry.callId)?.[0] === entry) place(turns, unplaced.get(entry.callId)?.shift());
  }
  placeResults();
  return turns;
}

function addBlock(turns: Turn[], block: AssistantBlock): void {
  const last = turns.at(-1);
  if (last?.kind === 'assistant') last.blocks.push(block);
  else turns.push({ kind: 'assistant', blocks: [block] });
}

function place(turns: Turn[], result: ToolResult | undefined): void {
  if (result === undefined) return;
  const last = turns.at(-1);
  if (last?.kind === 'results') last.results.push(result);
  else turns.push({ kind: 'results', results: [result] });
}

function addTo(map: Map<string, ToolResult[]>, key: string, result: ToolResult): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [result]);
  else list.push(result);
}
