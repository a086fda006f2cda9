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
import {
  SortableContext,
  sortableKeyboardCoordinates,
  useSortable,
  verticalListSortingStrategy,
} from '@dnd-kit/sortable';
import type { Endpoint } from '@relay/contract';
import { ArrowDown, ArrowUp, GripVertical, X } from 'lucide-react';
import { useState } from 'react';
import { HealthBadge } from '../../parts/health-badge.tsx';
import { text } from '../../text/index.ts';
import { IconButton } from '../../ui/button.tsx';
import { classes } from '../../ui/class-names.ts';
import { Switch } from '../../ui/switch.tsx';
import { useNow } from '../../ui/use-now.ts';
import type { DraftMember } from './lane-draft.ts';
import { memberTrouble } from './member-health.ts';

const words = text.lanes.editor;
const REFRESH_MS = 5_000;

interface MembersListProps {
  readonly members: readonly DraftMember[];
  readonly endpointOf: (id: string) => Endpoint | undefined;
  readonly disabled: boolean;
  readonly onMove: (from: number, to: number) => void;
  readonly onSwitch: (endpointId: string, enabled: boolean) => void;
  readonly onRemove: (endpointId: string) => void;
}

/** Endpoints by rank, reordered by drag, keyboard or buttons. */
export function MembersList(props: MembersListProps) {
  const { members, endpointOf, disabled, onMove } = props;
  const [said, setSaid] = useState('');
  const sensors = useSensors(
    useSensor(PointerSensor, { activationConstraint: { distance: 4 } }),
    useSensor(KeyboardSensor, { coordinateGetter: sortableKeyboardCoordinates }),
  );
  const ids = members.map(({ endpointId }) => endpointId);
  const nowMs = useNow(REFRESH_MS);
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
  if (members.length === 0) return <p className="px-4 py-6 text-[13px] text-warn">{words.empty}</p>;
  return (
    <DndContext
      sensors={sensors}
      collisionDetection={closestCenter}
      onDragEnd={onDragEnd}
      accessibility={{ announcements }}
    >
      <SortableContext items={ids} strategy={verticalListSortingStrategy}>
        <ol className="divide-y">
          {members.map((member, index) => (
            <MemberLine
              key={member.endpointId}
              member={member}
              place={index + 1}
              last={index === members.length - 1}
              endpoint={endpointOf(member.endpointId)}
              trouble={memberTrouble(ranked, member.endpointId, nowMs)}
              disabled={disabled}
              onUp={() => move(index, index - 1)}
              onDown={() => move(index, index + 1)}
              onSwitch={(enabled) => props.onSwitch(member.endpointId, enabled)}
              onRemove={() => props.onRemove(member.endpointId)}
            />
          ))}
        </ol>
      </SortableContext>
      <p role="status" className="sr-only">
        {said}
      </p>
    </DndContext>
  );
}

function MemberLine(props: MemberLineProps) {
  const { member, endpoint, place, disabled } = props;
  const sortable = useSortable({ id: member.endpointId, disabled });
  const { transform, transition, isDragging } = sortable;
  const name = endpoint?.name ?? member.endpointId;
  return (
    <li
      ref={sortable.setNodeRef}
      style={{
        transform: transform === null ? undefined : `translate3d(0, ${transform.y}px, 0)`,
        transition,
      }}
      className={classes(
        'flex items-center gap-2 bg-canvas py-1.5 pr-4 pl-3',
        isDragging && 'relative z-10 rounded-lg shadow-raised',
      )}
    >
      {disabled ? null : (
        <button
          type="button"
          ref={sortable.setActivatorNodeRef}
          {...sortable.attributes}
          {...sortable.listeners}
          aria-label={words.drag(name)}
          className="touch-none rounded p-1 text-ink-faint hover:text-ink active:cursor-grabbing"
        >
          <GripVertical aria-hidden className="size-4" />
        </button>
      )}
      <span className="w-4 shrink-0 text-right font-semibold">{place}</span>
      <div className="min-w-0 flex-1 pl-1">
        <p className={classes('truncate text-[13px] font-medium', !member.enabled && 'text-ink-faint')}>
          {name}
        </p>
        <p className="truncate font-mono text-xs text-ink-faint">{endpoint?.upstream_model ?? ''}</p>
        {props.trouble === null ? null : <p className="text-xs text-ink-soft">{props.trouble}</p>}
      </div>
      {endpoint === undefined ? null : (
        <span className="max-sm:hidden">
          <HealthBadge health={endpoint.health} />
        </span>
      )}
      <Switch
        checked={member.enabled}
        disabled={disabled}
        label={words.use(name)}
        onChange={props.onSwitch}
      />
      {disabled ? null : (
        <span className="flex">
          <IconButton label={words.up(name)} disabled={place === 1} onClick={props.onUp}>
            <ArrowUp aria-hidden className="size-4" />
          </IconButton>
          <IconButton label={words.down(name)} disabled={props.last} onClick={props.onDown}>
            <ArrowDown aria-hidden className="size-4" />
          </IconButton>
          <IconButton label={words.remove(name)} onClick={props.onRemove}>
            <X aria-hidden className="size-4" />
          </IconButton>
        </span>
      )}
    </li>
  );
}

interface MemberLineProps {
  readonly member: DraftMember;
  readonly endpoint: Endpoint | undefined;
  readonly trouble: string | null;
  readonly place: number;
  readonly last: boolean;
  readonly disabled: boolean;
  readonly onUp: () => void;
  readonly onDown: () => void;
  readonly onSwitch: (enabled: boolean) => void;
  readonly onRemove: () => void;
}
