import type { Provider } from '@relay/contract';
import { text } from '../text/index.ts';
import { Badge, type Tone } from '../ui/badge.tsx';

const TONES: Record<Provider['health'], Tone> = {
  unknown: 'neutral',
  healthy: 'good',
  degraded: 'warn',
  down: 'bad',
  rate_limited: 'warn',
};

export function HealthBadge({ health }: { readonly health: Provider['health'] }) {
  return (
    <Badge tone={TONES[health]} dot>
      {text.health[health]}
    </Badge>
  );
}

/** Disabled and managed-by-file badges. */
export function StateBadges({ enabled, managedBy }: StateBadgesProps) {
  return (
    <span className="inline-flex flex-wrap gap-1.5">
      {enabled ? <Badge>{text.states.enabled}</Badge> : <Badge tone="warn">{text.states.disabled}</Badge>}
      {managedBy === 'file' ? (
        <span title={text.states.managedByFileHint}>
          <Badge tone="accent">{text.states.managedByFile}</Badge>
        </span>
      ) : null}
    </span>
  );
}

interface StateBadgesProps {
  readonly enabled: boolean;
  readonly managedBy: 'file' | undefined;
}
