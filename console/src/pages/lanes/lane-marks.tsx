import type { Lane } from '@relay/contract';
import { PriorityName } from '../../parts/priority-car.tsx';
import { text } from '../../text/index.ts';
import { Badge } from '../../ui/badge.tsx';
import { classes } from '../../ui/class-names.ts';

const words = text.lanes;

/** What stands beside a lane's name: its priority, and what is not as usual. */
export function LaneMarks({ lane, priorityFrom }: LaneMarksProps) {
  return (
    <>
      <span className={classes('text-xs text-ink-faint', priorityFrom)}>
        <PriorityName priority={lane.priority} name={words.editor.priorities[lane.priority]} />
      </span>
      {lane.enabled ? null : <Badge tone="warn">{text.states.disabled}</Badge>}
      {lane.hidden ? <Badge>{words.hidden}</Badge> : null}
      {lane.managed_by === 'file' ? <Badge tone="note">{text.states.managedByFile}</Badge> : null}
    </>
  );
}

interface LaneMarksProps {
  readonly lane: Lane;
  /** Hides the priority in narrow windows. */
  readonly priorityFrom?: string;
}
