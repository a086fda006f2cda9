import type { Lane } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useListSearch } from '../../address/use-list-search.ts';
import { endpointsQuery, HEALTH_REFRESH, lanesQuery, membershipsQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { matches } from '../../format/matches.ts';
import { inRankOrder } from '../../parts/rank-order.ts';
import { useLaneFigures } from '../../parts/use-lane-figures.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { CreateButton, ListPage } from '../../ui/list-page.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { CreateLaneDialog } from './create-lane-dialog.tsx';
import { LaneCard, type LaneMember } from './lane-card.tsx';

const words = text.lanes;
/** Limits the number of cards; the search finds the others. */
const CARDS_MAX = 200;

export function LanesPage() {
  const api = useApi();
  const { can } = useAccess();
  const navigate = useNavigate();
  const { query, setQuery } = useListSearch();
  const [creating, setCreating] = useState(false);
  const lanes = useQuery(lanesQuery(api));
  const membersOf = useMembers();
  const figuresOf = useLaneFigures();
  const shown = useMemo(
    () =>
      lanes.data
        ?.filter(({ name, slug, description, id }) => matches(query, name, slug, description, id))
        .toSorted((a, b) => a.name.localeCompare(b.name))
        .slice(0, CARDS_MAX),
    [lanes.data, query],
  );
  const toLane = (lane: Lane) => void navigate({ to: '/lanes/$laneId', params: { laneId: lane.id } });
  return (
    <ListPage
      title={text.pages.lanes}
      words={words}
      create={
        can('createLane') ? (
          <CreateButton label={words.create} onClick={() => setCreating(true)} />
        ) : undefined
      }
      list={lanes}
      empty={{ title: words.empty }}
      query={query}
      onQuery={setQuery}
      shown={shown?.length}
      over={creating ? <CreateLaneDialog onClose={() => setCreating(false)} onCreated={toLane} /> : null}
    >
      <ul className="border-t-2 border-rule">
        {shown === undefined
          ? ['first', 'second', 'third'].map((each) => (
              <li key={each}>
                <CardSkeleton />
              </li>
            ))
          : shown.map((lane) => (
              <li key={lane.id}>
                <LaneCard lane={lane} members={membersOf(lane.id)} figures={figuresOf(lane.id)} />
              </li>
            ))}
      </ul>
    </ListPage>
  );
}

/** The endpoints of each lane by rank; undefined while loading. */
function useMembers(): (laneId: string) => readonly LaneMember[] | undefined {
  const api = useApi();
  const memberships = useQuery(membershipsQuery(api));
  const endpoints = useQuery({ ...endpointsQuery(api), ...HEALTH_REFRESH });
  return useMemo(() => {
    if (memberships.data === undefined || endpoints.data === undefined) return () => undefined;
    const endpointOf = new Map(endpoints.data.map((each) => [each.id, each]));
    const byLane = Map.groupBy(memberships.data, ({ lane_id: laneId }) => laneId);
    return (laneId: string) =>
      inRankOrder(byLane.get(laneId) ?? []).map((membership) => ({
        membership,
        endpoint: endpointOf.get(membership.endpoint_id),
      }));
  }, [memberships.data, endpoints.data]);
}

function CardSkeleton() {
  return (
    <div className="grid gap-5 border-b py-3 md:grid-cols-3">
      <Skeleton className="w-32" />
      <Skeleton className="w-full" />
      <Skeleton className="w-24" />
    </div>
  );
}
