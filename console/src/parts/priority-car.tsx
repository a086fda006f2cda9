import type { Lane } from '@relay/contract';
import { classes } from '../ui/class-names.ts';

type Priority = Lane['priority'];

/** An ordered ramp, which users can read without color: dark, light, hollow. */
const LOOKS: Record<Priority, string> = {
  interactive: 'bg-class-1',
  standard: 'bg-class-2',
  batch: 'bg-panel shadow-[inset_0_0_0_1.6px_var(--class-3)]',
};

/** One request, in the color of its lane's priority. */
export function Car({ priority, className }: { readonly priority: Priority; readonly className?: string }) {
  return (
    <span
      aria-hidden
      className={classes(
        'inline-block h-[14px] w-[7px] shrink-0 rounded-[1.5px]',
        LOOKS[priority],
        className,
      )}
    />
  );
}

/** The priority of a lane as a word. */
export function PriorityName({ priority, name }: { readonly priority: Priority; readonly name: string }) {
  return (
    <span className="inline-flex items-center gap-1.5 whitespace-nowrap">
      <Car priority={priority} className="h-[11px] w-[6px]" />
      {name}
    </span>
  );
}
