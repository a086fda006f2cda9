import type { Tone } from '../../ui/badge.tsx';
import { Signal } from '../../ui/signal.tsx';

/** States of the billing system; unknown ones are neutral. */
const TONES: Readonly<Record<string, Tone>> = {
  paid: 'good',
  succeeded: 'good',
  active: 'good',
  won: 'good',
  open: 'warn',
  processing: 'warn',
  pending: 'warn',
  past_due: 'warn',
  trialing: 'note',
  requires_action: 'warn',
  needs_response: 'bad',
  warning_needs_response: 'bad',
  requires_payment_method: 'bad',
  uncollectible: 'bad',
  unpaid: 'bad',
  failed: 'bad',
  lost: 'bad',
};

export function StatusBadge({ status }: { readonly status: string }) {
  const words = status.replaceAll('_', ' ');
  return (
    <Signal tone={TONES[status] ?? 'neutral'}>{`${words.charAt(0).toUpperCase()}${words.slice(1)}`}</Signal>
  );
}
