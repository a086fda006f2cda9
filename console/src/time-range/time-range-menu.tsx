import { CalendarClock, ChevronDown } from 'lucide-react';
import { Popover } from 'radix-ui';
import { type FormEvent, useState } from 'react';
import { formatDateTime } from '../format/times.ts';
import { text } from '../text/index.ts';
import { Button } from '../ui/button.tsx';
import { Field, Input } from '../ui/field.tsx';
import { previousMonth, rangeNames, type TimeRange, type TimeRangeSearch } from './time-range.ts';
import { useTimeRange } from './use-time-range.ts';

/** Selects the time range in the URL: a relative range, or a start and an end. */
export function TimeRangeMenu() {
  const { range, choose } = useTimeRange();
  const [open, setOpen] = useState(false);
  const lastMonth = previousMonth(Date.now());
  const take = (next: TimeRangeSearch) => {
    choose(next);
    setOpen(false);
  };
  return (
    <Popover.Root open={open} onOpenChange={setOpen}>
      <Popover.Trigger asChild>
        <Button aria-label={`${text.timeRange.label}: ${nameOf(range)}`}>
          <CalendarClock aria-hidden className="size-4" />
          {nameOf(range)}
          <ChevronDown aria-hidden className="size-3.5 text-ink-faint" />
        </Button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="end"
          sideOffset={6}
          collisionPadding={8}
          aria-label={text.timeRange.label}
          className="z-50 w-72 rounded-lg border bg-raised p-1 shadow-raised"
        >
          <ul>
            {rangeNames.map((name) => (
              <li key={name}>
                <button
                  type="button"
                  aria-pressed={range.name === name}
                  onClick={() => take({ range: name })}
                  className={ITEM}
                >
                  {text.timeRange.names[name]}
                </button>
              </li>
            ))}
            <li>
              <button
                type="button"
                aria-pressed={isSame(range, lastMonth)}
                onClick={() => take(lastMonth)}
                className={ITEM}
              >
                {text.timeRange.lastMonth}
              </button>
            </li>
          </ul>
          <CustomRange range={range} onChoose={take} />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

const ITEM = 'w-full rounded-md px-2 py-1.5 text-left text-[13px] hover:bg-hover aria-pressed:font-semibold';

interface CustomRangeProps {
  readonly range: TimeRange;
  readonly onChoose: (next: TimeRangeSearch) => void;
}

function CustomRange({ range, onChoose }: CustomRangeProps) {
  const [from, setFrom] = useState(() => inputOf(range.from));
  const [to, setTo] = useState(() => inputOf(range.to));
  const inOrder = from < to;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (inOrder) onChoose({ from: momentOf(from), to: momentOf(to) });
  };
  return (
    <form onSubmit={submit} className="mt-1 space-y-3 border-t p-2 pt-3">
      <p className="text-xs font-medium text-ink-faint">{text.timeRange.custom}</p>
      <Field label={text.timeRange.from}>
        {(control) => (
          <Input
            {...control}
            type="datetime-local"
            required
            value={from}
            onChange={(event) => setFrom(event.target.value)}
          />
        )}
      </Field>
      <Field label={text.timeRange.to} error={inOrder ? undefined : text.timeRange.order}>
        {(control) => (
          <Input
            {...control}
            type="datetime-local"
            required
            value={to}
            onChange={(event) => setTo(event.target.value)}
          />
        )}
      </Field>
      <Button type="submit" disabled={!inOrder}>
        {text.timeRange.apply}
      </Button>
    </form>
  );
}

function nameOf(range: TimeRange): string {
  if (range.name !== null) return text.timeRange.names[range.name];
  if (isSame(range, previousMonth(Date.now()))) return text.timeRange.lastMonth;
  return text.timeRange.between(formatDateTime(range.from), formatDateTime(range.to));
}

function isSame(range: TimeRange, other: Pick<TimeRange, 'from' | 'to'>): boolean {
  return range.from === other.from && range.to === other.to;
}

/** `datetime-local` inputs have no zone; here they hold UTC, as the labels say. */
function inputOf(at: string): string {
  return new Date(at).toISOString().slice(0, 16);
}

function momentOf(input: string): string {
  return new Date(`${input}Z`).toISOString();
}
