import type { Endpoint, Lane, Membership } from '@relay/contract';
import { Link } from '@tanstack/react-router';
import { formatDuration, formatShare } from '../../format/numbers.ts';
import { HealthBadge } from '../../parts/health-badge.tsx';
import { PriorityName } from '../../parts/priority-car.tsx';
import type { LaneFigures } from '../../parts/use-lane-figures.ts';
import { text } from '../../text/index.ts';
import { Badge } from '../../ui/badge.tsx';
import { classes } from '../../ui/class-names.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { useNow } from '../../ui/use-now.ts';
import { LaneMenu } from './lane-menu.tsx';
import { memberTrouble } from './member-health.ts';

const words = text.lanes;
const MEMBERS_SHOWN = 3;
const REFRESH_MS = 5_000;

/** An endpoint in a lane; the endpoint is undefined until the list of endpoints is loaded. */
export interface LaneMember {
  readonly membership: Membership;
  readonly endpoint: Endpoint | undefined;
}

interface LaneCardProps {
  readonly lane: Lane;
  readonly members: readonly LaneMember[] | undefined;
  readonly figures: LaneFigures | null | undefined;
}

/** A lane with its endpoints by rank and its recent traffic, as a row. */
export function LaneCard({ lane, members, figures }: LaneCardProps) {
  return (
    <div className="relative grid gap-x-5 gap-y-2 border-b py-2.5 hover:bg-hover md:grid-cols-[minmax(0,1fr)_minmax(0,1.4fr)_36px] xl:grid-cols-[minmax(0,1fr)_minmax(0,1.5fr)_270px_36px]">
      <div className="min-w-0">
        <h2 className="truncate text-[14px] leading-5 font-semibold">
          <Link
            to="/lanes/$laneId"
            params={{ laneId: lane.id }}
            className="after:absolute after:inset-0 after:content-['']"
          >
            {lane.name}
          </Link>
        </h2>
        <p className="relative z-10 flex w-fit max-w-full items-center gap-1 text-xs text-ink-faint">
          <code className="truncate font-mono">{lane.slug}</code>
          <CopyButton value={lane.slug} label={words.copySlug} />
        </p>
        <p className="flex flex-wrap items-center gap-x-2.5 gap-y-1 text-xs text-ink-faint">
          <PriorityName priority={lane.priority} name={words.editor.priorities[lane.priority]} />
          {lane.enabled ? null : <Badge tone="warn">{text.states.disabled}</Badge>}
          {lane.hidden ? <Badge>{words.hidden}</Badge> : null}
          {lane.managed_by === 'file' ? <Badge tone="note">{text.states.managedByFile}</Badge> : null}
        </p>
      </div>
      <Members members={members} />
      <Figures figures={figures} />
      <div className="relative z-10 max-md:absolute max-md:top-1.5 max-md:right-0 md:col-start-3 md:row-start-1 xl:col-start-4">
        <LaneMenu lane={lane} />
      </div>
    </div>
  );
}

function Members({ members }: { readonly members: readonly LaneMember[] | undefined }) {
  const nowMs = useNow(REFRESH_MS);
  if (members === undefined)
    return (
      <div className="space-y-3 py-1">
        <Skeleton className="w-40" />
        <Skeleton className="w-36" />
      </div>
    );
  if (members.length === 0) return <p className="text-[13px] text-warn">{words.noMembers}</p>;
  const more = members.length - MEMBERS_SHOWN;
  const ranked = members.map(({ membership: { enabled }, endpoint }) => ({ enabled, endpoint }));
  return (
    <ol className="min-w-0">
      {members.slice(0, MEMBERS_SHOWN).map((member, index) => (
        <MemberLine
          key={member.membership.id}
          member={member}
          place={index + 1}
          trouble={memberTrouble(ranked, member.membership.endpoint_id, nowMs)}
        />
      ))}
      {more > 0 ? <li className="pl-5 text-xs text-ink-faint">{words.more(more)}</li> : null}
    </ol>
  );
}

function MemberLine({ member: { membership, endpoint }, place, trouble }: MemberLineProps) {
  return (
    <li>
      <span className="flex h-6 items-center gap-2">
        <span className="w-3 shrink-0 text-right text-xs text-ink-faint">{place}</span>
        <span className={classes('min-w-0 truncate', !membership.enabled && 'text-ink-faint line-through')}>
          {endpoint?.name ?? membership.endpoint_id}
        </span>
        {endpoint === undefined ? null : (
          <span className="ml-auto text-xs">
            <HealthBadge health={endpoint.health} />
          </span>
        )}
      </span>
      {trouble !== null && endpoint?.health === 'down' ? (
        <p className="pl-5 text-xs text-ink-soft">{trouble}</p>
      ) : null}
    </li>
  );
}

interface MemberLineProps {
  readonly member: LaneMember;
  readonly place: number;
  readonly trouble: string | null;
}

function Figures({ figures }: { readonly figures: LaneFigures | null | undefined }) {
  if (figures === undefined) return null;
  if (figures === null)
    return <p className="text-xs text-ink-faint md:max-xl:col-span-2">{words.noTraffic}</p>;
  const none = text.states.empty;
  const tiles = [
    [words.share, formatShare(figures.share)],
    [words.waitP95, figures.waitMsP95 === null ? none : formatDuration(figures.waitMsP95)],
    [words.fallbacks, figures.fallbackRate === null ? none : formatShare(figures.fallbackRate)],
  ] as const;
  return (
    <dl
      className="grid grid-cols-3 content-start md:max-xl:col-span-2 md:max-xl:max-w-[360px]"
      title={words.lastDay}
    >
      {tiles.map(([name, value]) => (
        <div key={name}>
          <dt className="text-[11px] leading-4 text-ink-faint">{name}</dt>
          <dd className="font-medium tabular-nums">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
