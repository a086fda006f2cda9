import { healthName } from '@relay/contract/words';
import { HealthBadge, healthTones } from '../../parts/health-badge.tsx';
import { isUnwell } from '../../parts/health-order.ts';
import { text } from '../../text/index.ts';
import { classes } from '../../ui/class-names.ts';
import { Signal } from '../../ui/signal.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { useNow } from '../../ui/use-now.ts';
import { decidingEndpoint, memberTrouble } from './member-health.ts';
import type { LaneMember } from './use-lane-rows.ts';

const words = text.lanes;
const NAMES_SHOWN = 3;
const REFRESH_MS = 5_000;

/** The endpoints of a lane by rank, over their signal. */
export function LaneEndpoints({ members }: { readonly members: readonly LaneMember[] | undefined }) {
  if (members === undefined) return <Skeleton className="w-40" />;
  const more = members.length - NAMES_SHOWN;
  return (
    <div className="min-w-0" title={members.map(stateOf).join('\n')}>
      {members.length === 0 ? null : (
        <ol className="truncate">
          {members.slice(0, NAMES_SHOWN).map(({ endpointId, enabled, endpoint }, index) => (
            <li key={endpointId} className="mr-2.5 inline">
              <span className="text-xs text-ink-faint">{index + 1}</span>{' '}
              <span className={classes(!enabled && 'text-ink-faint line-through')}>
                {endpoint?.name ?? endpointId}
              </span>
            </li>
          ))}
          {more > 0 ? <li className="inline text-xs text-ink-faint">{words.more(more)}</li> : null}
        </ol>
      )}
      <p className="flex min-w-0 text-xs">
        <LaneSignal members={members} />
      </p>
    </div>
  );
}

/** What is wrong with a lane, if anything is. */
export function LaneSignal({ members }: { readonly members: readonly LaneMember[] }) {
  const nowMs = useNow(REFRESH_MS);
  const deciding = decidingEndpoint(members);
  if (deciding === undefined)
    return <Signal tone="bad">{members.length === 0 ? words.noMembers : words.noneEnabled}</Signal>;
  if (!isUnwell(deciding.health)) return <HealthBadge health={deciding.health} />;
  const trouble = memberTrouble(members, deciding.id, nowMs) ?? healthName(deciding.health);
  return (
    <Signal tone={healthTones[deciding.health]}>
      {members.length === 1 ? trouble : words.troubleOf(deciding.name, trouble)}
    </Signal>
  );
}

/** "1. gpt-5: Healthy". */
function stateOf({ endpointId, enabled, endpoint }: LaneMember, index: number): string {
  const isOn = enabled && endpoint?.enabled !== false;
  const state = isOn ? healthName(endpoint?.health ?? 'unknown') : text.states.disabled;
  return `${index + 1}. ${endpoint?.name ?? endpointId}: ${state}`;
}
