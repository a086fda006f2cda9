import type { RequestLogEntry } from '@relay/contract';
import { X } from 'lucide-react';
import {
  type FilterChange,
  type RequestFilterName,
  type RequestFilters,
  requestFilterNames,
} from '../../address/request-search.ts';
import { keysOf, oneOf } from '../../format/values.ts';
import { causeOf } from '../../parts/failure-words.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { Segments } from '../../ui/segments.tsx';
import { FilterPopover } from './filter-popover.tsx';
import { nameIn, type RequestNames } from './use-request-names.ts';

const words = text.requests.filters;
const VERDICTS = text.requests.detail.guardrails.verdicts;
const STATES = Object.entries(text.requests.states);

interface RequestFiltersProps {
  readonly filters: RequestFilters;
  readonly names: RequestNames;
  readonly rows: readonly RequestLogEntry[] | undefined;
  readonly onChange: (next: FilterChange) => void;
  readonly onClear: () => void;
}

/** State buttons, the filter popover, and the active filters as removable chips. */
export function RequestFiltersBar({ filters, names, rows, onChange, onClear }: RequestFiltersProps) {
  const set = requestFilterNames.filter((name) => name !== 'state' && filters[name] !== undefined);
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-2">
      <Segments
        label={words.stateLabel}
        value={filters.state ?? ''}
        options={[['', words.all] as const, ...STATES].map(([value, label]) => ({ value, label }))}
        onChange={(state) => onChange({ state: state === '' ? undefined : state })}
      />
      <FilterPopover filters={filters} names={names} rows={rows} onChange={onChange} />
      {set.map((name) => (
        <span
          key={name}
          className="inline-flex h-8 max-w-full items-center gap-1 rounded-lg bg-hover pr-1 pl-2.5 text-[13px] text-ink"
        >
          <span className="truncate">
            {words.chip(words.names[name], valueWords(name, String(filters[name] ?? ''), names))}
          </span>
          <button
            type="button"
            aria-label={words.remove(words.nouns[name])}
            onClick={() => onChange({ [name]: undefined })}
            className="grid size-6 shrink-0 place-items-center rounded-md hover:bg-hover"
          >
            <X aria-hidden className="size-3.5" />
          </button>
        </span>
      ))}
      {set.length > 1 ? (
        <Button look="quiet" size="small" onClick={onClear}>
          {words.clear}
        </Button>
      ) : null}
    </div>
  );
}

function valueWords(name: RequestFilterName, value: string, names: RequestNames): string {
  if (name === 'error') return causeOf(value);
  if (name === 'waited' || name === 'fell_back') return value === 'true' ? words.yes : words.no;
  if (name === 'operation') {
    const operation = oneOf(keysOf(text.requests.operations), value);
    return operation === undefined ? value : text.requests.operations[operation];
  }
  if (name === 'verdict') {
    const verdict = oneOf(keysOf(VERDICTS), value);
    return verdict === undefined ? value : VERDICTS[verdict];
  }
  const named = oneOf(keysOf(names), name);
  return named === undefined ? value : nameIn(names[named], value);
}
