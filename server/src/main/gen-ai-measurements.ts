import type { RequestRecord } from '../domain/request-record.ts';
import { createTally, type Labels, type Tally } from '../kit/metrics.ts';
import { genAiOperation, genAiProvider } from '../protocols/gen-ai-names.ts';
import { metricTable } from './metric-table.ts';

/** Operations, presets and kinds of error are few; what is beyond this is counted under the first labels. */
const LABEL_SETS_MAX = 200;

export type LabelledTallies = [Labels, Tally][];

/** Metrics under the names that OpenTelemetry's conventions for generative AI give them. */
export interface GenAiMeasurements {
  noteGenAi(record: RequestRecord, presetSlug: string | null): void;
  readonly genAi: {
    operationDurations(): LabelledTallies;
    tokenUsage(): LabelledTallies;
    requestDurations(): LabelledTallies;
    firstTokens(): LabelledTallies;
  };
}

export function measureGenAi(): GenAiMeasurements {
  const operations = family(metricTable.gen_ai_client_operation_duration_seconds, 'error_type');
  const tokens = family(metricTable.gen_ai_client_token_usage, 'gen_ai_token_type');
  const requests = family(metricTable.gen_ai_server_request_duration_seconds, null);
  const firstTokens = family(metricTable.gen_ai_server_time_to_first_token_seconds, null);
  return {
    noteGenAi(record, presetSlug) {
      const last = record.attempts.at(-1);
      if (last === undefined) return;
      const operation = genAiOperation(record.operation);
      const provider = genAiProvider(presetSlug);
      operations.observe(operation, provider, errorTypeOf(last.cause), last.latencyMs / 1_000);
      requests.observe(operation, provider, '', record.latencyMs / 1_000);
      if (record.streaming && record.state === 'completed' && record.ttftMs !== null)
        firstTokens.observe(operation, provider, '', record.ttftMs / 1_000);
      if (record.usageSource !== 'reported') return;
      tokens.observe(operation, provider, 'input', record.actualInputTokens);
      if (record.actualOutputTokens > 0)
        tokens.observe(operation, provider, 'output', record.actualOutputTokens);
    },
    genAi: {
      operationDurations: operations.tallies,
      tokenUsage: tokens.tallies,
      requestDurations: requests.tallies,
      firstTokens: firstTokens.tallies,
    },
  };
}

/** Of a status only the class, so that a provider cannot cause any number of series. */
function errorTypeOf(cause: string | null): string {
  if (cause === null) return '';
  const status = /^upstream_status_([1-5])\d\d$/.exec(cause)?.[1];
  return status === undefined ? cause : `${status}xx`;
}

interface Family {
  observe(operation: string, provider: string, third: string, value: number): void;
  tallies(): LabelledTallies;
}

/** `third`: the name of its third label, if it has one. An empty value is left out. */
function family({ bounds }: { readonly bounds: readonly number[] }, third: string | null): Family {
  const byKey = new Map<string, [Labels, Tally]>();
  return {
    observe(operation, provider, kind, value) {
      const key = `${operation} ${provider} ${kind}`;
      let entry = byKey.get(key);
      if (entry === undefined) {
        if (byKey.size >= LABEL_SETS_MAX) entry = byKey.values().next().value;
        entry ??= [
          {
            gen_ai_operation_name: operation,
            gen_ai_provider_name: provider,
            ...(third !== null && kind !== '' && { [third]: kind }),
          },
          createTally(bounds),
        ];
        if (byKey.size < LABEL_SETS_MAX) byKey.set(key, entry);
      }
      entry[1].observe(value);
    },
    tallies: () => [...byKey.values()],
  };
}
