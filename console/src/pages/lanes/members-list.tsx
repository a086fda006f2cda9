import {
  type Announcements,
  closestCenter,
  DndContext,
  type DragEndEvent,
  KeyboardSensor,
  PointerSensor,
  useSensor,
  useSensors,
} from '@dnd-kit/core';
import { SortableContext, sortableKeyboardCoordinates, verticalListSortingStrategy } from '@dnd-kit/sortable';
import type { Endpoint } from '@relay/contract';
import { useState } from 'react';
import { text } from '../../text/index.ts';
import { classes } from '../../ui/class-names.ts';
import { tableCells } from '../../ui/data-table.tsx';
import type { DraftMember } from './lane-draft.ts';
import { narrowed } from './member-columns.ts';
import { whereRequestsGo } from './member-health.ts';
import { MemberRow } from './member-row.tsx';
import type { MemberColumns, MemberFacts } from './use-member-facts.ts';

const words = text.lanes.editor;

interface MembersListProps {
  readonly members: readonly DraftMember[];
  readonly endpointOf: (id: string) => Endpoint | undefined;
  readonly factsOf: (endpoint: Endpoint) => MemberFacts;
  readonly columns: MemberColumns;
  readonly disabled: boolean;
  readonly onMove: (from: number, to: number) => void;
  readonly onSwitch: (endpointId: string, enabled: boolean) => void;
  readonly onRemove: (endpointId: string) => void;
}

/** Endpoints by rank, reordered by drag, keyboard or buttons. */
export function MembersList(props: MembersListProps) {
  const { members, endpointOf, factsOf, columns, disabled, onMove } = props;
  const [said, setSaid] = useState('');
  const sensors = useSensors(
    useSensor(PointerSensor, { activationConstraint: { distance: 4 } }),
    useSensor(KeyboardSensor, { coordinateGetter: sortableKeyboardCoordinates }),
  );
  const ids = members.map(({ endpointId }) => endpointId);
  const ranked = members.map(({ endpointId, enabled }) => ({ enabled, endpoint: endpointOf(endpointId) }));
  const nameOf = (id: string) => endpointOf(id)?.name ?? id;
  const move = (from: number, to: number) => {
    const id = ids[from];
    if (id === undefined || to < 0 || to >= ids.length) return;
    onMove(from, to);
    setSaid(words.moved(nameOf(id), to + 1, ids.length));
  };
  const onDragEnd = ({ active, over }: DragEndEvent) => {
    if (over !== null) move(ids.indexOf(String(active.id)), ids.indexOf(String(over.id)));
  };
  const place = (id: string | number) => ids.indexOf(String(id)) + 1;
  const announcements: Announcements = {
    onDragStart: ({ active }) => words.moved(nameOf(String(active.id)), place(active.id), ids.length),
    onDragOver: ({ active, over }) =>
      over === null ? undefined : words.moved(nameOf(String(active.id)), place(over.id), ids.length),
    onDragEnd: ({ active, over }) =>
      over === null ? undefined : words.moved(nameOf(String(active.id)), place(over.id), ids.length),
    onDragCancel: ({ active }) => words.moved(nameOf(String(active.id)), place(active.id), ids.length),
  };
  if (members.length === 0) return <p className="pt-3 text-[13px] text-warn">{words.empty}</p>;
  return (
    <DndContext
      sensors={sensors}
      collisionDetection={closestCenter}
      onDragEnd={onDragEnd}
      accessibility={{ announcements }}
    >
      <SortableContext items={ids} strategy={verticalListSortingStrategy}>
        <table className="w-full border-collapse text-left">
          <caption className="sr-only">{words.table}</caption>
          <MemberHeads columns={columns} disabled={disabled} />
          <tbody>
            {members.map((member, index) => {
              const endpoint = endpointOf(member.endpointId);
              return (
                <MemberRow
                  key={member.endpointId}
                  member={member}
                  place={index + 1}
                  last={index === members.length - 1}
                  endpoint={endpoint}
                  facts={endpoint === undefined ? undefined : factsOf(endpoint)}
                  columns={columns}
                  where={whereRequestsGo(ranked, member.endpointId)}
                  disabled={disabled}
                  onUp={() => move(index, index - 1)}
                  onDown={() => move(index, index + 1)}
                  onSwitch={(enabled) => props.onSwitch(member.endpointId, enabled)}
                  onRemove={() => props.onRemove(member.endpointId)}
                />
              );
            })}
          </tbody>
        </table>
      </SortableContext>
      <p role="status" className="sr-only">
        {said}
      </p>
    </DndContext>
  );
}

/** A figure that does not count this lane alone stands below a head that says so. */
function MemberHeads({ columns, disabled }: MemberHeadsProps) {
  const { heads } = words;
  const head = (label: string, look = '') => (
    <th
      scope="col"
      rowSpan={columns.figures ? 2 : 1}
      className={classes(tableCells.head, 'align-bottom leading-[30px]', look)}
    >
      {label}
    </th>
  );
  const figure = classes(tableCells.grouped, narrowed.figures, 'text-right');
  return (
    <thead className="border-b border-line-strong">
      <tr>
        {head(heads.rank)}
        {head(heads.endpoint)}
        {head(heads.signal, narrowed.state)}
        {columns.load ? head(heads.load, narrowed.state) : null}
        {columns.figures ? (
          <th
            scope="colgroup"
            colSpan={2}
            className={classes(tableCells.group, narrowed.figures, 'text-right')}
          >
            <span className="block border-b leading-5 font-normal">
              {columns.isOwn ? heads.ownFigures : heads.figures}
            </span>
          </th>
        ) : null}
        {head(heads.use, 'text-right')}
        {disabled ? null : (
          <th scope="col" rowSpan={columns.figures ? 2 : 1} className={tableCells.head}>
            <span className="sr-only">{heads.actions}</span>
          </th>
        )}
      </tr>
      {columns.figures ? (
        <tr>
          <th scope="col" className={figure}>
            {heads.ttft}
          </th>
          <th scope="col" className={figure}>
            {heads.cost}
          </th>
        </tr>
      ) : null}
    </thead>
  );
}

interface MemberHeadsProps {
  readonly columns: MemberColumns;
  readonly disabled: boolean;
}
