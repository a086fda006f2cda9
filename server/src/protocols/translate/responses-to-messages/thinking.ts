import type { JsonObject } from '../../../kit/json-value.ts';
import type { FieldSorter } from '../field-sorter.ts';
import { messagesEffort } from '../settings.ts';
import type { RequestOptions } from '../translation.ts';

const SUMMARIES: readonly unknown[] = ['auto', 'concise', 'detailed'];

export interface ThinkingSettings {
  readonly thinking: JsonObject | undefined;
  readonly effort: unknown;
}

interface Circumstances {
  readonly options: RequestOptions;
  /** Whether the rest of the request allows thinking. */
  readonly canThink: boolean;
}

/**
 * An effort keeps its name, and none is thinking switched off. A summary is asked for with an effort alone: agents ask for
 * summaries whatever the model, and models that know no effort reject adaptive thinking too.
 */
export function thinkingSettings(
  sorter: FieldSorter,
  { effort: given, summary: givenSummary }: JsonObject,
  { options, canThink }: Circumstances,
): ThinkingSettings {
  const effort = given ?? undefined;
  const wantsSummary = givenSummary !== undefined && givenSummary !== null;
  if (options.reasoningEffort === false) {
    if (effort !== undefined) sorter.leaveOut('reasoning.effort');
    if (wantsSummary) sorter.leaveOut('reasoning.summary');
    return { thinking: undefined, effort: undefined };
  }
  const written = messagesEffort(sorter, effort, 'reasoning.effort');
  if (wantsSummary && !SUMMARIES.includes(givenSummary)) sorter.cannotSay('reasoning.summary');
  const summarizes = wantsSummary && effort !== undefined && effort !== 'none' && canThink;
  // Messages have summaries of one length.
  if (wantsSummary && (!summarizes || givenSummary !== 'auto')) sorter.leaveOut('reasoning.summary');
  if (effort === 'none') return { thinking: { type: 'disabled' }, effort: undefined };
  return { thinking: summarizes ? { type: 'adaptive', display: 'summarized' } : undefined, effort: written };
}
