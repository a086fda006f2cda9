import { useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useChangeSearch } from '../../address/change-search.ts';
import type { LimitSearch } from '../../address/limit-search.ts';
import { useCreating } from '../../address/use-creating.ts';
import { useListSearch } from '../../address/use-list-search.ts';
import { matches } from '../../format/matches.ts';
import { text } from '../../text/index.ts';
import { DataTable } from '../../ui/data-table.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { CreateButton, ListPage } from '../../ui/list-page.tsx';
import { holdsUpAll, type LaneReach, reachOf, standsInWay } from './lane-reach.ts';
import { limitColumns, type RankedLimit } from './limit-columns.tsx';
import { LimitDialog } from './limit-dialog.tsx';
import { LimitFilterBar } from './limit-filters.tsx';
import { EditLimitDialog } from './limit-menu.tsx';
import { LimitPanel } from './limit-panel.tsx';
import type { LimitKind, LimitRow } from './limit-row.ts';
import { LimitRules } from './limit-rules.tsx';
import { type LimitNames, sentenceOf } from './limit-words.ts';
import { type Standing, tighterThan } from './outlook.ts';
import { type LimitPlaces, useLimitPlaces } from './use-limit-places.ts';
import { useLimitRows, useWritableKinds } from './use-limit-rows.ts';
import { type LimitFilters, useLimitSearch } from './use-limit-search.ts';

const words = text.limits;

export function LimitsPage() {
  const { query, openId, setQuery, open, close } = useListSearch();
  const { filters, clear } = useLimitSearch();
  const [creating, setCreating] = useCreating('/limits');
  const places = useLimitPlaces();
  const kinds = useWritableKinds();
  const { standings, list, usageError } = useLimitRows();
  const lane = places.lanes.find(({ id }) => id === filters.lane);
  const [raised, setRaised] = useState<LimitRow | null>(null);
  const columns = useMemo(
    () => limitColumns(places, { open, editOf: (row) => editOf(row, kinds, setRaised) }),
    [places, open, kinds],
  );
  const reach = useMemo(
    () => (filters.lane === undefined ? null : reachOf(filters.lane, places)),
    [filters.lane, places],
  );
  const rows = useMemo(() => {
    if (standings === undefined) return undefined;
    const ranked = rankedOf(standings, { query, filters, reach, names: places.names });
    const first = reach === null ? undefined : firstOf(ranked);
    return ranked.map((each) => (each === first ? { ...each, isFirst: true } : each));
  }, [standings, query, filters, reach, places]);
  const opened = standings?.find(({ row }) => row.id === openId);
  return (
    <ListPage
      title={text.pages.limits}
      words={words}
      create={
        kinds.length > 0 ? <CreateButton label={words.create} onClick={() => setCreating(true)} /> : undefined
      }
      list={list}
      empty={{ title: words.empty }}
      query={query}
      onQuery={setQuery}
      filters={<LimitFilterBar places={places} />}
      shown={rows?.length}
      onClear={clear}
      below={<LimitRules />}
      over={
        <>
          {creating ? (
            <LimitDialog kinds={kinds} places={places} row={null} onClose={() => setCreating(false)} />
          ) : null}
          <KeyLimitDialog places={places} />
          {raised === null ? null : (
            <EditLimitDialog row={raised} places={places} onClose={() => setRaised(null)} />
          )}
          {opened === undefined ? null : (
            <LimitPanel key={opened.row.id} standing={opened} places={places} onClose={close} />
          )}
        </>
      }
    >
      <ErrorNote error={usageError} />
      {lane === undefined || reach === null || rows === undefined ? null : (
        <p role="status" className="border-l-[3px] border-line-strong py-0.5 pl-3">
          {laneSentence(lane.name, rows, reach, places.names)}
        </p>
      )}
      <DataTable
        label={words.table}
        columns={columns}
        rows={rows}
        rowId={({ row }) => row.id}
        sortedBy={{ id: 'used', desc: true }}
      />
    </ListPage>
  );
}

/** A new limit for the key that the URL names; the panel of a key links here. */
function KeyLimitDialog({ places }: { readonly places: LimitPlaces }) {
  const { create }: LimitSearch = useSearch({ strict: false });
  const changeSearch = useChangeSearch();
  const mayWrite = useWritableKinds().includes('api_key');
  // Its field can only show a key that has been read.
  const isKnown = places.keys.some(({ id }) => id === create);
  if (create === undefined || !mayWrite || !isKnown) return null;
  return (
    <LimitDialog
      kinds={['api_key']}
      places={places}
      row={null}
      subjectId={create}
      onClose={() => changeSearch({ create: undefined }, { replace: true })}
    />
  );
}

/** An endpoint's own limit is edited at the endpoint, and a file's in the file. */
function editOf(row: LimitRow, kinds: readonly LimitKind[], edit: (row: LimitRow) => void) {
  const isEditable = kinds.includes(row.kind) && !row.ofEndpoint && !row.fromFile;
  return isEditable ? () => edit(row) : undefined;
}

interface Wanted {
  readonly query: string;
  readonly filters: { readonly [Name in keyof LimitFilters]: LimitFilters[Name] | undefined };
  /** Null without a selected lane. */
  readonly reach: LaneReach | null;
  readonly names: LimitNames;
}

function rankedOf(standings: readonly Standing[], wanted: Wanted): readonly RankedLimit[] {
  const { query, filters, reach, names } = wanted;
  return standings
    .filter(({ row }) => {
      if (filters.kind !== undefined && row.kind !== filters.kind) return false;
      if (filters.scope !== undefined && row.scope !== filters.scope) return false;
      if (filters.metric !== undefined && row.metric !== filters.metric) return false;
      if (reach !== null && !standsInWay(row, reach)) return false;
      return matches(query, sentenceOf(row, names), words.kindOf[row.kind], row.id);
    })
    .map((standing, rank) => ({ ...standing, rank, isFirst: false }));
}

/** The tightest shared limit; without one, the tightest of the others. */
function firstOf(rows: readonly RankedLimit[]): RankedLimit | undefined {
  const enabled = rows.filter(({ row }) => row.enabled).toSorted(tighterThan);
  return enabled.find(({ row }) => row.kind === 'resource') ?? enabled[0];
}

function laneSentence(
  lane: string,
  rows: readonly RankedLimit[],
  reach: LaneReach,
  names: LimitNames,
): string {
  const first = rows.find(({ isFirst }) => isFirst);
  if (first === undefined) return words.lane.noneOn(lane);
  const count = rows.filter(({ row }) => row.enabled).length;
  const sentence = words.lane.first(lane, words.lane.count(count), sentenceOf(first.row, names));
  return holdsUpAll(first.row, reach) ? sentence : `${sentence} ${words.lane.others}`;
}
