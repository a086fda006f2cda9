import type { RequestLogEntry } from '@relay/contract';
import { errorCodes } from '@relay/contract/errors';
import { capitalized } from '@relay/contract/words';
import { useQuery } from '@tanstack/react-query';
import { ListFilter } from 'lucide-react';
import { useMemo, useState } from 'react';
import {
  type FilterChange,
  type RequestFilterName,
  type RequestFilters,
  requestSearch,
} from '../../address/request-search.ts';
import { modelsQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { causeOf } from '../../parts/failure-words.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { Field, Select } from '../../ui/field.tsx';
import { Popover } from '../../ui/popover.tsx';
import type { RequestNames } from './use-request-names.ts';

const words = text.requests.filters;

type Choice = readonly [value: string, label: string];
const YES_NO: readonly Choice[] = [
  ['true', words.yes],
  ['false', words.no],
];
interface Choices {
  readonly name: Exclude<RequestFilterName, 'state'>;
  /** Shown first: values from the loaded rows, or all options if the filter has no others. */
  readonly first: readonly Choice[];
  readonly others?: readonly Choice[];
}

interface FilterPopoverProps {
  readonly filters: RequestFilters;
  readonly names: RequestNames;
  readonly rows: readonly RequestLogEntry[] | undefined;
  readonly onChange: (next: FilterChange) => void;
}

/** The filters besides the state. */
export function FilterPopover(props: FilterPopoverProps) {
  const [open, setOpen] = useState(false);
  return (
    <Popover
      label={words.title}
      align="start"
      open={open}
      onOpenChange={setOpen}
      trigger={
        <Button size="small">
          <ListFilter aria-hidden className="size-4" />
          {words.button}
        </Button>
      }
    >
      <FilterFields {...props} />
    </Popover>
  );
}

function FilterFields({ filters, names, rows, onChange }: FilterPopoverProps) {
  const choices = useChoices(names, rows);
  return (
    <div className="grid grid-cols-2 gap-x-3 gap-y-3.5">
      <p className="col-span-2 text-xs font-medium text-ink-faint">{words.title}</p>
      {choices.map(({ name, first, others = [] }) => {
        const value = String(filters[name] ?? '');
        const isKnown = value === '' || [...first, ...others].some(([each]) => each === value);
        return (
          <Field key={name} label={capitalized(words.names[name])}>
            {(control) => (
              <Select
                {...control}
                value={value}
                onChange={({ target }) => onChange({ [name]: requestSearch({ [name]: target.value })[name] })}
              >
                <option value="">{words.any}</option>
                {isKnown ? null : <option value={value}>{value}</option>}
                {others.length === 0 ? (
                  <Options choices={first} />
                ) : (
                  <>
                    {first.length === 0 ? null : (
                      <optgroup label={words.seen}>
                        <Options choices={first} />
                      </optgroup>
                    )}
                    <optgroup label={words.others}>
                      <Options choices={others} />
                    </optgroup>
                  </>
                )}
              </Select>
            )}
          </Field>
        );
      })}
    </div>
  );
}

function Options({ choices }: { readonly choices: readonly Choice[] }) {
  return choices.map(([value, label]) => (
    <option key={value} value={value}>
      {label}
    </option>
  ));
}

/** The options of each filter; a filter without readable names is left out. */
function useChoices(names: RequestNames, rows: FilterPopoverProps['rows']): readonly Choices[] {
  const { can } = useAccess();
  const models = useQuery({ ...modelsQuery(useApi()), enabled: can('listModels') });
  return useMemo(() => {
    const seen = (of: (row: RequestLogEntry) => string | null) =>
      [...new Set((rows ?? []).flatMap((row) => of(row) ?? []))].sort();
    const same = (values: readonly string[]): readonly Choice[] => values.map((value) => [value, value]);
    const without = (all: readonly string[], some: readonly string[]) =>
      same(all.filter((each) => !some.includes(each)));
    const seenModels = seen(({ model }) => model);
    const seenErrors = seen(({ error_code: code }) => code);
    const named = (name: keyof RequestNames): readonly Choices[] => {
      const list = names[name];
      return list === undefined || list.size === 0
        ? []
        : [{ name, first: [...list].sort(([, one], [, other]) => one.localeCompare(other)) }];
    };
    const called = models.data?.map(({ id }) => id) ?? [];
    return [
      { name: 'operation', first: Object.entries(text.requests.operations) },
      { name: 'model', first: same(seenModels), others: without(called, seenModels) },
      ...named('lane'),
      ...named('endpoint'),
      ...named('provider'),
      ...named('key'),
      ...named('user'),
      {
        name: 'error',
        first: seenErrors.map((code) => [code, causeOf(code)]),
        // Only errors that requests can end with; those of other routes have no cause in words.
        others: without(errorCodes, seenErrors)
          .filter(([code]) => causeOf(code) !== code)
          .map(([code]) => [code, causeOf(code)]),
      },
      ...named('guardrail'),
      ...(names.guardrail === undefined || names.guardrail.size === 0
        ? []
        : [{ name: 'verdict' as const, first: Object.entries(text.requests.detail.guardrails.verdicts) }]),
      { name: 'waited', first: YES_NO },
      { name: 'fell_back', first: YES_NO },
    ];
  }, [names, rows, models.data]);
}
