import { useSortable } from '@dnd-kit/sortable';
import type { Endpoint } from '@relay/contract';
import { Link } from '@tanstack/react-router';
import { ArrowDown, ArrowUp, GripVertical, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { formatDuration, formatMoneyShort } from '../../format/numbers.ts';
import { DayValue } from '../../parts/day-figure.tsx';
import { costPerRequest } from '../../parts/endpoint-spend.ts';
import { EndpointSignal, InFlight, inFlightWords } from '../../parts/endpoint-state.tsx';
import { HealthCell } from '../../parts/health-badge.tsx';
import { NoPrice } from '../../parts/no-price.tsx';
import { text } from '../../text/index.ts';
import { IconButton } from '../../ui/button.tsx';
import { classes } from '../../ui/class-names.ts';
import { tableCells } from '../../ui/data-table.tsx';
import { Signal } from '../../ui/signal.tsx';
import { Switch } from '../../ui/switch.tsx';
import type { DraftMember } from './lane-draft.ts';
import { narrowed } from './member-columns.ts';
import type { MemberColumns, MemberFacts } from './use-member-facts.ts';

const words = text.lanes.editor;

interface MemberRowProps {
  readonly member: DraftMember;
  /** Undefined while loading, as the facts. */
  readonly endpoint: Endpoint | undefined;
  readonly facts: MemberFacts | undefined;
  readonly columns: MemberColumns;
  /** Where its requests go while it is down. */
  readonly where: string | null;
  readonly place: number;
  readonly last: boolean;
  readonly disabled: boolean;
  readonly onUp: () => void;
  readonly onDown: () => void;
  readonly onSwitch: (enabled: boolean) => void;
  readonly onRemove: () => void;
}

/** An endpoint of the lane: its rank, what it is, how it is doing, and whether the lane uses it. */
export function MemberRow(props: MemberRowProps) {
  const { member, endpoint, facts, columns, disabled } = props;
  const sortable = useSortable({ id: member.endpointId, disabled });
  const { transform, transition, isDragging } = sortable;
  const name = endpoint?.name ?? member.endpointId;
  return (
    <tr
      ref={sortable.setNodeRef}
      style={{
        transform: transform === null ? undefined : `translate3d(0, ${transform.y}px, 0)`,
        transition,
      }}
      className={classes('border-b bg-canvas', isDragging && 'relative z-10 shadow-raised')}
    >
      <td className={classes(tableCells.body, 'w-px')}>
        <Order {...props} name={name} handle={sortable} />
      </td>
      <td className={classes(tableCells.body, 'w-full max-w-0')}>
        <Name {...props} name={name} />
      </td>
      <td className={classes(tableCells.body, narrowed.state, 'max-w-[192px]')}>
        <State {...props} />
      </td>
      {columns.load ? (
        <td className={classes(tableCells.body, narrowed.state)}>
          {facts?.load === undefined ? <None /> : <InFlight of={facts.load} />}
        </td>
      ) : null}
      {columns.figures ? (
        <>
          <td className={classes(tableCells.body, narrowed.figures, 'text-right whitespace-nowrap')}>
            <Ttft facts={facts} />
          </td>
          <td className={classes(tableCells.body, narrowed.figures, 'text-right whitespace-nowrap')}>
            <Cost facts={facts} />
          </td>
        </>
      ) : null}
      <td className={tableCells.body}>
        <span className="flex justify-end">
          <Switch
            checked={member.enabled}
            disabled={disabled}
            label={words.use(name)}
            onChange={props.onSwitch}
          />
        </span>
      </td>
      {disabled ? null : (
        <td className={classes(tableCells.body, 'w-px pl-0')}>
          <IconButton label={words.remove(name)} onClick={props.onRemove}>
            <X aria-hidden className="size-4" />
          </IconButton>
        </td>
      )}
    </tr>
  );
}

interface Named extends MemberRowProps {
  readonly name: string;
}

function Order({ place, last, disabled, name, handle, onUp, onDown }: OrderProps) {
  return (
    <span className="flex items-center gap-0.5">
      {disabled ? null : (
        <button
          type="button"
          ref={handle.setActivatorNodeRef}
          {...handle.attributes}
          {...handle.listeners}
          aria-label={words.drag(name)}
          className="-ml-1 touch-none rounded p-1 text-ink-faint hover:text-ink active:cursor-grabbing @max-[480px]:hidden"
        >
          <GripVertical aria-hidden className="size-4" />
        </button>
      )}
      <span className="min-w-5 text-center text-[15px] font-semibold">{place}</span>
      {disabled ? null : (
        <span className="flex @max-[480px]:flex-col">
          <IconButton label={words.up(name)} disabled={place === 1} onClick={onUp}>
            <ArrowUp aria-hidden className="size-4" />
          </IconButton>
          <IconButton label={words.down(name)} disabled={last} onClick={onDown}>
            <ArrowDown aria-hidden className="size-4" />
          </IconButton>
        </span>
      )}
    </span>
  );
}

interface OrderProps extends Named {
  readonly handle: Pick<ReturnType<typeof useSortable>, 'setActivatorNodeRef' | 'attributes' | 'listeners'>;
}

/** The name over what it calls; in a narrow table, over its state and its figures. */
function Name(props: Named) {
  const { member, endpoint, facts, columns, name } = props;
  return (
    <>
      <p className={classes('truncate font-medium', !member.enabled && 'text-ink-faint')}>
        {endpoint === undefined ? (
          name
        ) : (
          <Link
            to="/endpoints"
            search={{ open: member.endpointId }}
            title={name}
            className="rounded hover:underline"
          >
            {name}
          </Link>
        )}
      </p>
      <p className={classes('truncate text-xs text-ink-faint', narrowed.state)} title={facts?.source}>
        {facts?.source}
      </p>
      <div className={narrowed.stateBelow}>
        <State {...props} />
      </div>
      <p
        className={classes(
          'flex flex-wrap gap-x-2.5 text-xs text-ink-soft [&>*]:whitespace-nowrap',
          narrowed.figuresBelow,
        )}
      >
        {columns.load && facts?.load !== undefined ? (
          <span className={narrowed.stateBelow}>{words.inFlight(inFlightWords(facts.load))}</span>
        ) : null}
        {columns.figures ? <FiguresBelow facts={facts} /> : null}
      </p>
    </>
  );
}

/** The state with its reason, and what follows from it for the lane. Without Live, as the endpoint itself says. */
function State({ endpoint, facts, where }: MemberRowProps): ReactNode {
  if (endpoint === undefined) return null;
  if (!endpoint.enabled) return <Signal tone="neutral">{text.states.disabled}</Signal>;
  return (
    <>
      {facts?.load === undefined ? <HealthCell of={endpoint} /> : <EndpointSignal of={facts.load} />}
      {where === null ? null : (
        <p className="text-[11px] leading-[13px] text-pretty text-ink-soft">{where}</p>
      )}
    </>
  );
}

function Ttft({ facts }: FigureProps) {
  return <DayValue of={{ total: facts?.stats?.ttft_ms_p95 ?? null, hours: [] }} format={formatDuration} />;
}

function Cost({ facts }: FigureProps) {
  const cost = costPerRequest(facts?.stats);
  if (cost === null && facts?.isPriced === false) return <NoPrice />;
  return <DayValue of={{ total: cost, hours: [] }} format={formatMoneyShort} />;
}

/** What is unknown has no column here that a dash would stand in. */
function FiguresBelow({ facts }: FigureProps) {
  const cost = costPerRequest(facts?.stats);
  return (
    <>
      {facts?.stats?.ttft_ms_p95 == null ? null : (
        <span>
          {words.heads.ttft} <Ttft facts={facts} />
        </span>
      )}
      {cost === null && facts?.isPriced !== false ? null : (
        <span>
          <Cost facts={facts} /> {cost === null ? null : words.perRequest}
        </span>
      )}
    </>
  );
}

interface FigureProps {
  readonly facts: MemberFacts | undefined;
}

function None() {
  return <span className="text-ink-faint">{text.states.empty}</span>;
}
