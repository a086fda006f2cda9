import { RelayError } from '../../domain/relay-error.ts';
import type { Handlers } from '../../http/call.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { noHistory, readHistory } from './history.ts';
import { readEvent } from './read-event.ts';
import { receiveEvent } from './receive-event.ts';
import { monthAt, monthOf, readLines, readTotals } from './usage-statement.ts';
import { verifyEvent } from './verify-event.ts';

const LINES_MAX = 1_000;

export function billingHandlers(deps: ManagementDeps): Handlers {
  return {
    async getBillingHistory({ caller: { organizationId } }) {
      if (deps.deployment.mode !== 'hosted') return noHistory;
      return readHistory(deps.ofOrganization(organizationId), organizationId);
    },
    async getUsageStatement({ caller: { organizationId }, query }) {
      const db = deps.ofOrganization(organizationId);
      const nowMs = deps.clock.nowMs();
      const month = query.month === undefined ? monthAt(nowMs) : monthOf(query.month);
      const { by = 'key', limit = LINES_MAX, cursor } = query;
      const totals = await readTotals(db, organizationId, month);
      const { lines, nextCursor } = await readLines(db, { organizationId, month, by, limit, cursor });
      return {
        month: month.name,
        period_start: new Date(month.startMs).toISOString(),
        period_end: new Date(month.endMs).toISOString(),
        complete: nowMs >= month.endMs,
        basis: 'configured_prices',
        currency: 'USD',
        totals,
        lines,
        next_cursor: nextCursor,
      };
    },
    async receiveStripeEvent(call) {
      const secret = deps.deployment.mode === 'hosted' ? deps.billing.stripeWebhookSecret : null;
      if (secret === null) throw notSetUp();
      const event = readEvent(
        verifyEvent({
          text: call.body ?? '',
          signature: call.header('stripe-signature') ?? '',
          secret,
          nowMs: deps.clock.nowMs(),
        }),
      );
      const outcome = event === null ? 'ignored' : await receiveEvent(deps, event, call.requestId);
      return { received: true, outcome };
    },
  };
}

function notSetUp(): RelayError {
  return new RelayError('mode_unsupported', {
    message:
      'This deployment doesn’t accept Stripe events. They need hosted mode and RELAY_STRIPE_WEBHOOK_SECRET.',
  });
}
