import { randomUUIDv7 } from 'node:crypto';
import type { Caller } from '../../domain/caller.ts';
import { uuidAt } from '../../kit/uuid-time.ts';
import { sampleRow } from '../../store/ledger/ledger-row.fixture.ts';
import type { LedgerRow } from '../../store/ledger/ledger-row.ts';

export const HOUR_MS = 3_600_000;
const SERVICE_MS = 2_000;

/** Requests at one endpoint, each so long after the one before. */
export interface Traffic {
  readonly count: number;
  readonly everyMs: number;
  readonly over?: Partial<LedgerRow>;
}

/** Requests to the lane `fast`, from an hour ago on, which took 2 s and cost 3 micro-USD. */
export function servedRows(caller: Caller, endpointId: string, traffic: Traffic): LedgerRow[] {
  const startMs = Date.now() - HOUR_MS;
  return Array.from({ length: traffic.count }, (_, at) =>
    sampleRow({
      request_id: uuidAt(startMs + at * traffic.everyMs),
      organization_id: caller.organizationId,
      user_id: caller.userId,
      endpoint_id: endpointId,
      model: 'fast',
      latency_ms: SERVICE_MS,
      actual_input_tokens: 1_000_000,
      actual_output_tokens: 1_000_000,
      actual_cost_micros: 3,
      attempts: [
        {
          endpoint_id: endpointId,
          provider_id: randomUUIDv7(),
          upstream_model: 'gpt-5',
          status: 200,
          outcome: 'completed',
          cause: null,
          started_ms: 0,
          wait_ms: 0,
          latency_ms: SERVICE_MS,
        },
      ],
      ...traffic.over,
    }),
  );
}
