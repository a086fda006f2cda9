import { ListFilter } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { canGroup, type UsageMetric, usageGroups } from '../../address/usage-search.ts';
import { keysOf, oneOf } from '../../format/values.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { Choice } from '../../ui/choice.tsx';
import { classes } from '../../ui/class-names.ts';
import { Select } from '../../ui/field.tsx';
import { useFilterOptions } from './use-filter-options.ts';
import type { UsageChoice, useUsage } from './use-usage.ts';

const words = text.usage;

const METRIC_GROUPS: Readonly<Record<keyof typeof words.metricGroups, readonly UsageMetric[]>> = {
  traffic: ['requests', 'errors', 'fallback_rate'],
  tokens: [
    'cost_micros',
    'fallback_cost_micros',
    'total_tokens',
    'input_tokens',
    'output_tokens',
    'cached_input_tokens',
  ],
  time: ['wait_ms_p50', 'wait_ms_p95', 'latency_ms_p50', 'latency_ms_p95', 'ttft_ms'],
};

interface ControlsProps {
  readonly choice: UsageChoice;
  readonly change: ReturnType<typeof useUsage>['change'];
}

/** Metric, grouping and bucket. */
export function UsageControls({ choice, change }: ControlsProps) {
  const { metric, by, bucket, buckets } = choice;
  return (
    <div className="grid grid-cols-2 gap-2 sm:flex sm:flex-wrap">
      <Labelled label={words.metric} className="max-sm:col-span-2 sm:w-60">
        <Select
          aria-label={words.metric}
          value={metric}
          onChange={(event) => {
            const next = oneOf(keysOf(words.metrics), event.target.value);
            if (next !== undefined) change.set({ metric: next });
          }}
        >
          {keysOf(METRIC_GROUPS).map((group) => (
            <optgroup key={group} label={words.metricGroups[group]}>
              {METRIC_GROUPS[group].map((each) => (
                <option key={each} value={each}>
                  {words.metrics[each]}
                </option>
              ))}
            </optgroup>
          ))}
        </Select>
      </Labelled>
      <Labelled label={words.by} className="sm:w-40">
        <Choice
          aria-label={words.by}
          value={by}
          options={usageGroups.map((value) => ({
            value,
            label: words.groups[value],
            disabled: !canGroup(metric, value),
          }))}
          onChange={(next) => change.set({ by: next })}
        />
      </Labelled>
      <Labelled label={words.bucket} className="sm:w-36">
        <Choice
          aria-label={words.bucket}
          value={bucket}
          options={buckets.map((value) => ({ value, label: words.buckets[value] }))}
          onChange={(next) => change.set({ bucket: next })}
        />
      </Labelled>
    </div>
  );
}

export function UsageFilterBar({ choice, change }: ControlsProps) {
  const options = useFilterOptions();
  const chosenCount = Object.keys(choice.filters).length;
  // Collapsed on phones, where filters would hide the chart.
  const [open, setOpen] = useState(chosenCount > 0);
  if (options.length === 0) return null;
  return (
    <>
      <Button size="small" className="sm:hidden" aria-expanded={open} onClick={() => setOpen(!open)}>
        <ListFilter aria-hidden className="size-3.5" />
        {words.filters.label}
      </Button>
      <fieldset className={classes('grid grid-cols-2 gap-2 sm:flex sm:flex-wrap', !open && 'max-sm:hidden')}>
        <legend className="sr-only">{words.filters.label}</legend>
        {options.map(([name, found]) => {
          const chosen = choice.filters[name];
          // A deleted resource stays selectable by ID.
          const gone = chosen !== undefined && !found.some(({ id }) => id === chosen);
          return (
            <Select
              key={name}
              aria-label={words.filters[name].label}
              className={chosen === undefined ? 'h-8 text-[13px] text-ink-soft sm:w-44' : CHOSEN}
              value={chosen ?? ''}
              onChange={(event) =>
                change.setFilter(name, event.target.value === '' ? undefined : event.target.value)
              }
            >
              <option value="">{words.filters[name].any}</option>
              {gone ? <option value={chosen}>{chosen}</option> : null}
              {found.map(({ id, name: label }) => (
                <option key={id} value={id}>
                  {label}
                </option>
              ))}
            </Select>
          );
        })}
        {chosenCount === 0 ? null : (
          <Button look="quiet" size="small" onClick={change.clear}>
            {text.states.clearFilters}
          </Button>
        )}
      </fieldset>
    </>
  );
}

const CHOSEN = 'h-8 text-[13px] font-medium border-ink sm:w-44';

interface LabelledProps {
  readonly label: string;
  readonly className: string;
  readonly children: ReactNode;
}

/** A label above its control. */
function Labelled({ label, className, children }: LabelledProps) {
  return (
    <div className={className}>
      <span aria-hidden className="mb-1 block text-xs text-ink-faint">
        {label}
      </span>
      {children}
    </div>
  );
}
