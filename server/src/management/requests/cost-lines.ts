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
  const { endpoint_id: endpointId, request_id: requestId } = row;
  if (row.actual_cost_micros === null || endpointId === null || !scopes.has('relay:providers:read'))
    return null;
  const pricing = await readPricingAt(db, organizationId, endpointId, uuidTimeMs(requestId));
  if (pricing === undefined) return null;
  const lines = costLinesOf(row, pricing, protocols[row.operation].isFree);
  return (
    lines?.map(({ kind, tokens, priceMicros, picos }) => ({
      kind: KINDS[kind],
      tokens,
      price_micros: priceMicros,
      cost_usd: exactUsd(picos),
    })) ?? null
  );
}
