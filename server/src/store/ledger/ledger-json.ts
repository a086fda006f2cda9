import type { LimitMetric, LimitPeriod, Operation } from '@relay/contract';
import type { PolicyDescription } from '../../domain/limits/limit.ts';

// The contents of the JSON columns of `requests`.

/** One element of `attempts`: one dispatch, in order. */
export interface StoredAttempt {
  readonly endpoint_id: string;
  readonly provider_id: string;
  readonly upstream_model: string;
  readonly status: number | null;
  readonly outcome: 'completed' | 'failed' | 'cancelled';
  readonly cause: string | null;
  /** From the request's arrival to this dispatch. Like the wait, null when it was not recorded. */
  readonly started_ms: number | null;
  readonly wait_ms: number | null;
  readonly latency_ms: number;
  /** Present only if the attempt was not sent. No sum counts such an attempt. */
  readonly sent?: false;
  /**
   * Present where an attempt that another one followed used something. Where no attempt of a row has it, the last that was sent used what the
   * row says. `attempts-of-row.ts` reads it.
   */
  readonly use?: StoredUse;
  /** Present if it is not the row's; at another provider, if it is not null. */
  readonly credential_id?: string | null;
  /** What the provider said about Relay's credential or address; absent otherwise. */
  readonly upstream_request_id?: string;
  readonly upstream_message?: string;
  /** Absent where the client's bytes were passed through. */
  readonly translated_to?: Operation;
  /** What the provider did not get; absent where its bytes were passed through and nothing was left out. */
  readonly left_out?: readonly string[];
}

/** Usage of one attempt. Counts of 0 are left out, except input and output. */
export interface StoredUse {
  readonly source: 'reported' | 'streamed' | 'estimated';
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cached_input_tokens?: number;
  readonly cache_write_5m_tokens?: number;
  readonly cache_write_1h_tokens?: number;
  /** Rounded up. Null: the endpoint has no price. */
  readonly cost_micros: number | null;
  readonly cost_rounding_picos?: number;
  /** As `StoredTrace.usage_details`, without what is 0 or null. */
  readonly details?: Partial<NonNullable<StoredTrace['usage_details']>>;
}

/** The limit that made a request wait or rejected it. */
export interface StoredBoundPolicy {
  readonly policy_id: string;
  readonly kind: PolicyDescription['policy_kind'];
  readonly scope_type: PolicyDescription['scope_type'];
  readonly scope_id: string | null;
  readonly metric: LimitMetric;
  readonly period: LimitPeriod;
  readonly resets_at: string | null;
}

/** How a request was routed, and how long each step took. */
export interface StoredTrace {
  /** Of OpenTelemetry; absent unless the request was traced. */
  readonly trace_id?: string;
  /** What the provider reported, where that cannot be true; absent otherwise. */
  readonly reported_usage?: {
    readonly input_tokens: number;
    readonly output_tokens: number;
    readonly cached_input_tokens: number;
  };
  /** Absent when the provider reported nothing beyond input, output and cache. */
  readonly usage_details?: {
    readonly reasoning_tokens: number;
    readonly audio_input_tokens: number;
    readonly image_input_tokens: number;
    readonly audio_output_tokens: number;
    readonly image_output_tokens: number;
    readonly service_tier: string | null;
  };
  /** Null when it was not recorded; a step is null when it was not reached. */
  readonly timings: {
    readonly receive_ms: number | null;
    readonly route_ms: number | null;
    readonly guard_ms: number | null;
    readonly admit_ms: number | null;
    readonly wait_ms: number | null;
    readonly upstream_first_byte_ms: number | null;
    readonly first_content_ms: number | null;
    readonly total_ms: number | null;
  } | null;
  readonly candidates: readonly {
    readonly endpoint_id: string;
    readonly rank: number;
    readonly verdict: string;
    readonly reason: string;
    readonly wait_ms: number | null;
  }[];
  readonly guardrails: readonly {
    readonly guardrail_id: string;
    readonly stage: 'pre_dispatch' | 'post_response';
    readonly verdict: 'allowed' | 'flagged' | 'replaced' | 'blocked' | 'unavailable';
    readonly latency_ms: number;
    /** Why it was unavailable; absent otherwise. */
    readonly cause?: string;
    /** Absent when everything was text. */
    readonly skipped_parts?: number;
  }[];
}
