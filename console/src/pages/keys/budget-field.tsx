import { microsOf } from '@relay/contract/words';
import { useQuery } from '@tanstack/react-query';
import { apiKeyStatsQuery } from '../../api/traffic-stats-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { counted } from '../../format/numbers.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { Field, Input, Select } from '../../ui/field.tsx';
import type { KeyLimit } from './create-key.ts';

const words = text.keys;

const PERIODS = ['day', 'week', 'month'] as const;
type Period = (typeof PERIODS)[number];

/** What is typed: an amount in dollars, and the period it is for. */
export interface BudgetDraft {
  readonly typed: string;
  readonly period: Period;
}

export const noBudget: BudgetDraft = { typed: '', period: 'month' };

/** The limit of a draft: none for an empty one, null for one that is not an amount. */
export function limitsOf({ typed, period }: BudgetDraft): readonly KeyLimit[] | null {
  if (typed.trim() === '') return [];
  const limit_value = microsOf(typed);
  return limit_value === undefined ? null : [{ target_type: 'global', metric: 'spend', period, limit_value }];
}

interface BudgetFieldProps {
  readonly value: BudgetDraft;
  readonly onChange: (draft: BudgetDraft) => void;
}

/** How much a key may spend. Nothing for callers who may not set limits. */
export function BudgetField({ value, onChange }: BudgetFieldProps) {
  const reach = useReach(value);
  const isInvalid = limitsOf(value) === null;
  return (
    <Field
      label={words.budget}
      hint={
        <>
          {reach === null ? null : <span className="block text-ink-soft">{reach}</span>}
          {words.budgetHint}
        </>
      }
      error={isInvalid ? words.budgetInvalid : undefined}
    >
      {(control) => (
        <div className="grid grid-cols-[minmax(0,2fr)_minmax(0,3fr)] gap-2">
          <div className="relative">
            <span aria-hidden className="absolute inset-y-0 left-2.5 grid place-items-center text-ink-faint">
              $
            </span>
            <Input
              {...control}
              inputMode="decimal"
              autoComplete="off"
              placeholder={words.budgetPlaceholder}
              className="pl-6"
              value={value.typed}
              onChange={(event) => onChange({ ...value, typed: event.target.value })}
            />
          </div>
          <Select
            aria-label={words.budgetPeriod}
            className="h-8! max-sm:h-9!"
            value={value.period}
            onChange={(event) =>
              onChange({ ...value, period: PERIODS.find((each) => each === event.target.value) ?? 'month' })
            }
          >
            {PERIODS.map((period) => (
              <option key={period} value={period}>
                {words.budgetPeriods[period]}
              </option>
            ))}
          </Select>
        </div>
      )}
    </Field>
  );
}

/** How many requests a budget pays for, at the mean cost of the last 24 hours. */
function useReach({ typed, period }: BudgetDraft): string | null {
  const enabled = useAccess().can('getApiKeyStats');
  const { data: day } = useQuery({ ...apiKeyStatsQuery(useApi()), enabled });
  const micros = microsOf(typed);
  if (micros === undefined || day === undefined || day.costMicros === 0) return null;
  const count = roughly((micros * day.requests) / day.costMicros);
  return words.budgetReach(counted(count, 'request'), text.limits.periods[period]);
}

/** Two significant digits: it is an estimate. */
function roughly(count: number): number {
  return count < 1 ? 0 : Number(count.toPrecision(2));
}
