import type { ReactNode } from 'react';
import { classes } from './class-names.ts';

interface SegmentsProps<Value extends string> {
  /** What is chosen. */
  readonly label: string;
  readonly value: Value;
  readonly options: readonly Segment<Value>[];
  readonly onChange: (value: Value) => void;
  /** Takes the whole width, as in a form. */
  readonly fill?: boolean;
}

interface Segment<Value extends string> {
  readonly value: Value;
  readonly label: ReactNode;
  /** A count beside the label. */
  readonly count?: string;
}

/** A choice among a few, all in sight. */
export function Segments<Value extends string>({
  label,
  value,
  options,
  onChange,
  fill = false,
}: SegmentsProps<Value>) {
  return (
    <fieldset
      className={classes(
        'max-w-full min-w-0 overflow-clip rounded-lg border border-line-strong bg-panel max-sm:flex-wrap',
        fill ? 'flex w-full' : 'inline-flex',
      )}
    >
      <legend className="sr-only">{label}</legend>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          onClick={() => onChange(option.value)}
          className={classes(
            'flex h-7 items-center gap-1.5 border-l px-2.5 whitespace-nowrap first:border-l-0 max-sm:-ml-px max-sm:grow max-sm:justify-center hover:bg-hover focus-visible:-outline-offset-2 aria-pressed:bg-solid aria-pressed:font-medium aria-pressed:text-on-solid max-sm:h-9',
            fill && 'grow justify-center',
          )}
        >
          {option.label}
          {option.count === undefined ? null : <span className="opacity-75">{option.count}</span>}
        </button>
      ))}
    </fieldset>
  );
}
