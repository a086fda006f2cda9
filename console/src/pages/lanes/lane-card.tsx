import type { Endpoint, Lane, Membership } from '@relay/contract';
import { Link } from '@tanstack/react-router';
import { formatDuration, formatShare } from '../../format/numbers.ts';
import { HealthBadge } from '../../parts/health-badge.tsx';
import type { LaneFigures } from '../../parts/use-lane-figures.ts';
import { text } from '../../text/index.ts';
import { Badge } from '../../ui/badge.tsx';
import { classes } from '../../ui/class-names.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Panel } from '../../ui/page.tsx';
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

/** A lane with its endpoints by rank and its recent traffic. */
export function LaneCard({ lane, members, figures }: LaneCardProps) {
  return (
    <Panel className="relative flex h-full min-h-[246px] flex-col hover:border-line-strong">
      <div className="flex items-start gap-2 px-4 pt-3.5">
        <div className="min-w-0 flex-1">
          <h2 className="truncate text-[15px] font-semibold">
            <Link
              to="/lanes/$laneId"
              params={{ laneId: lane.id }}
              className="after:absolute after:inset-0 after:rounded-xl after:content-['']"
            >
              {lane.name}
            </Link>
          </h2>
          <p className="relative z-10 flex w-fit max-w-full items-center gap-1 text-xs text-ink-faint">
            <code className="truncate font-mono">{lane.slug}</code>
            <CopyButton value={lane.slug} label={words.copySlug} />
          </p>
        </div>
        <div className="relative z-10 flex items-center gap-1.5">
          {lane.enabled ? null : <Badge tone="warn">{text.states.disabled}</Badge>}
          {lane.priority === 'standard' ? null : <Badge>{words.editor.priorities[lane.priority]}</Badge>}
          {lane.hidden ? <Badge>{words.hidden}</Badge> : null}
          {lane.managed_by === 'file' ? <Badge tone="note">{text.states.managedByFile}</Badge> : null}
          <LaneMenu lane={lane} />
        </div>
      </div>
      <div className="flex-1 px-4 py-3">
        <Members members={members} />
      </div>
      <Figures figures={figures} />
    </Panel>
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
    <ol className="space-y-1.5">
      {members.slice(0, MEMBERS_SHOWN).map((member, index) => (
        <MemberLine
          key={member.membership.id}
          member={member}
          place={index + 1}
          trouble={memberTrouble(ranked, member.membership.endpoint_id, nowMs)}
        />
      ))}
      {more > 0 ? <li className="pl-7.5 text-xs text-ink-faint">{words.more(more)}</li> : null}
    </ol>
  );
}

function MemberLine({ member: { membership, endpoint }, place, trouble }: MemberLineProps) {
  return (
    <li className="text-[13px]">
      <span className="flex items-center gap-2.5">
        <span className="grid size-5 shrink-0 place-items-center rounded bg-sunken text-[11px] text-ink-faint tabular-nums">
          {place}
        </span>
        <span className={classes('min-w-0 truncate', !membership.enabled && 'text-ink-faint line-through')}>
          {endpoint?.name ?? membership.endpoint_id}
        </span>
        {endpoint === undefined ? null : (
          <span className="ml-auto">
            <HealthBadge health={endpoint.health} />
          </span>
        )}
      </span>
      {trouble !== null && endpoint?.health === 'down' ? (
        <p className="pl-7.5 text-xs text-ink-soft">{trouble}</p>
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
  if (figures === null) return <p className="border-t px-4 py-3 text-xs text-ink-faint">{words.noTraffic}</p>;
  const none = text.states.empty;
  const tiles = [
    [words.share, formatShare(figures.share)],
    [words.waitP95, figures.waitMsP95 === null ? none : formatDuration(figures.waitMsP95)],
    [words.fallbacks, figures.fallbackRate === null ? none : formatShare(figures.fallbackRate)],
  ] as const;
  return (
    <dl className="grid grid-cols-3 border-t" title={words.lastDay}>
      {tiles.map(([name, value]) => (
        <div key={name} className="border-l px-4 py-2.5 first:border-l-0">
          <dt className="text-xs text-ink-faint">{name}</dt>
          <dd className="font-medium tabular-nums">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
