import type { Health } from '@relay/contract';
import { healthName, healthSentence, recentWords, type SeenHealth } from '@relay/contract/words';
import { text } from '../text/index.ts';
import { Badge, type Tone } from '../ui/badge.tsx';
import { Signal } from '../ui/signal.tsx';
import { useNow } from '../ui/use-now.ts';
import { isUnwell } from './health-order.ts';

/** The signal of each state. */
export const healthTones: Record<Health, Tone> = {
  unknown: 'neutral',
  healthy: 'good',
  degraded: 'warn',
  down: 'bad',
  rate_limited: 'warn',
};
const REFRESH_MS = 5_000;

export function HealthBadge({ health }: { readonly health: Health }) {
  return <Signal tone={healthTones[health]}>{healthName(health)}</Signal>;
}

/** The state for a cell of a table, with why it is not healthy; what it was judged by is on hover. */
export function HealthCell({ of }: { readonly of: SeenHealth }) {
  const nowMs = useNow(REFRESH_MS);
  const { health, health_detail: detail } = of;
  const why = health === 'unknown' ? text.health.idle : isUnwell(health) ? detail.reason : null;
  const judgedBy = health === 'unknown' ? [] : [`${recentWords(detail)}.`, text.health.ignores];
  return (
    <span title={[healthSentence(of, nowMs), ...judgedBy].join('\n')}>
      <HealthBadge health={health} />
      {why === null ? null : <span className="block max-w-52 truncate text-xs text-ink-faint">{why}</span>}
    </span>
  );
}

/** Down for 40 s: connection refused. */
export function HealthSentence({ of }: { readonly of: SeenHealth }) {
  const nowMs = useNow(REFRESH_MS);
  return <>{healthSentence(of, nowMs)}</>;
}

/** Enabled, without emphasis, or disabled; and whether the configuration file manages it. */
export function StateBadges({ enabled, managedBy }: StateBadgesProps) {
  return (
    <span className="inline-flex flex-wrap gap-1.5">
      {enabled ? (
        <span className="text-ink-faint">{text.states.enabled}</span>
      ) : (
        <Badge tone="warn">{text.states.disabled}</Badge>
      )}
      {managedBy === 'file' ? (
        <span title={text.states.managedByFileHint}>
          <Badge tone="note">{text.states.managedByFile}</Badge>
        </span>
      ) : null}
    </span>
  );
}

interface StateBadgesProps {
  readonly enabled: boolean;
  readonly managedBy: 'file' | undefined;
}
