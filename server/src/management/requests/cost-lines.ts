import type { CostLine, RequestDetail } from '@relay/contract';
import type { Kysely } from 'kysely';
import type { Caller } from '../../domain/caller.ts';
import { exactUsd, type CostLine as PricedLine } from '../../domain/money/money.ts';
import { uuidTimeMs } from '../../kit/uuid-time.ts';
import { protocols } from '../../protocols/index.ts';
import { readPricingAt } from '../../store/configuration/load-pricing.ts';
import { costLinesOf } from '../../store/ledger/log/cost-lines.ts';
import type { DetailRow } from '../../store/ledger/log/read-log.ts';
import type { Database } from '../../store/postgres/schema.ts';
import { type AttemptUse, attemptUsesOf } from './attempt-uses.ts';

const KINDS: Readonly<Record<PricedLine['kind'], CostLine['kind']>> = {
  input: 'input',
  cachedInputTokens: 'cached_input',
  cacheWrite5mTokens: 'cache_write_5m',
  cacheWrite1hTokens: 'cache_write_1h',
  audioInputTokens: 'audio_input',
  imageInputTokens: 'image_input',
  output: 'output',
  reasoningTokens: 'reasoning',
  audioOutputTokens: 'audio_output',
  imageOutputTokens: 'image_output',
  request: 'request',
};

/** What the cost of a request is made of; null if that is unknown, and for callers who can't read prices. */
export async function readCostLines(
  db: Kysely<Database>,
  { organizationId, scopes }: Caller,
  row: DetailRow,
): Promise<RequestDetail['cost_lines']> {
  if (row.actual_cost_micros === null || !scopes.has('relay:providers:read')) return null;
  const lines: CostLine[] = [];
  for (const { attempt, endpointId, use } of pricedUses(row)) {
    if (endpointId === null) return null;
    const pricing = await readPricingAt(db, organizationId, endpointId, uuidTimeMs(row.request_id));
    const found = pricing && costLinesOf(use, pricing, protocols[row.operation].isFree);
    if (found == null) return null;
    lines.push(...found.map((line) => wireLine(attempt, line)));
  }
  return lines;
}

interface PricedUse {
  readonly attempt: number;
  readonly endpointId: string | null;
  readonly use: AttemptUse;
}

/** Returns the attempts with a known cost. If there is none, as when the gateway died, the first attempt has the row's usage. */
function pricedUses(row: DetailRow): PricedUse[] {
  const uses = attemptUsesOf(row).flatMap((use, index): PricedUse[] => {
    const endpointId = row.attempts[index]?.endpoint_id ?? null;
    return use === null || use.actual_cost_micros === null ? [] : [{ attempt: index + 1, endpointId, use }];
  });
  return uses.length > 0 ? uses : [{ attempt: 1, endpointId: row.endpoint_id, use: row }];
}

function wireLine(attempt: number, { kind, tokens, priceMicros, picos }: PricedLine): CostLine {
  return { attempt, kind: KINDS[kind], tokens, price_micros: priceMicros, cost_usd: exactUsd(picos) };
}
