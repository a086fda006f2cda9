import type { AlertMessage } from '@relay/contract';
import type { PolicyDescription } from './limits/limit.ts';

/** A threshold that a limit has reached in a window, or the forecast that it will. */
export interface AlertEvent {
  readonly id: string;
  readonly organizationId: string;
  readonly kind: 'threshold' | 'forecast';
  readonly policy: Omit<PolicyDescription, 'limit_value'> & { readonly subject_id: string | null };
  readonly limit: number;
  readonly used: number;
  readonly windowStart: Date;
  readonly windowEnd: Date;
  /** 0 for a forecast. */
  readonly thresholdPercent: number;
  readonly forecastExhaustedAt: Date | null;
  readonly createdAt: Date;
}

/** What a webhook carries when a destination is tested. */
export interface TestMessage {
  readonly id: string;
  readonly type: 'alert.test';
  readonly created_at: string;
  readonly organization: AlertMessage['organization'];
}

/** What is sent to a destination. */
export type AlertNote = AlertMessage | TestMessage;

/** An alert as the list shows it and as a webhook carries it. */
export function alertFields(event: AlertEvent): Omit<AlertMessage, 'organization'> {
  return {
    id: event.id,
    type: `limit.${event.kind}`,
    created_at: event.createdAt.toISOString(),
    policy: { ...event.policy },
    window: { start: event.windowStart.toISOString(), end: event.windowEnd.toISOString() },
    threshold_percent: event.kind === 'forecast' ? null : event.thresholdPercent,
    used: event.used,
    limit: event.limit,
    forecast_exhausted_at: event.forecastExhaustedAt?.toISOString() ?? null,
  };
}
