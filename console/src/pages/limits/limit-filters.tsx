import { text } from '../../text/index.ts';
import { classes } from '../../ui/class-names.ts';
import { Select } from '../../ui/field.tsx';
import type { LimitPlaces } from './use-limit-places.ts';
import { useLimitSearch } from './use-limit-search.ts';

const words = text.limits;

/** Which limits are shown; all of it stands in the address. */
export function LimitFilterBar({ places }: { readonly places: LimitPlaces }) {
  const { filters, choose } = useLimitSearch();
  return (
    <div className="grid w-full grid-cols-2 gap-2 sm:flex sm:w-auto sm:flex-wrap">
      <Choice
        label={words.filters.kind}
        all={words.filters.anyKind}
        options={words.kinds}
        value={filters.kind}
        onChange={(kind) => choose({ kind })}
      />
      <Choice
        label={words.filters.scope}
        all={words.filters.anyScope}
        options={words.scopes}
        value={filters.scope}
        onChange={(scope) => choose({ scope })}
      />
      <Choice
        label={words.filters.metric}
        all={words.filters.anyMetric}
        options={words.metricNames}
        value={filters.metric}
        onChange={(metric) => choose({ metric })}
      />
      <Choice
        label={words.filters.lane}
        all={words.filters.anyLane}
        options={Object.fromEntries(places.lanes.map(({ id, name }) => [id, words.filters.inLane(name)]))}
        value={filters.lane}
        onChange={(lane) => choose({ lane })}
      />
    </div>
  );
}

function Choice<Value extends string>(props: ChoiceProps<Value>) {
  const { label, all, options, value, onChange } = props;
  return (
    <Select
      aria-label={label}
      value={value ?? ''}
      className={classes('sm:w-auto sm:max-w-64', value !== undefined && 'border-accent')}
      onChange={(event) => onChange(event.target.value === '' ? undefined : (event.target.value as Value))}
    >
      <option value="">{all}</option>
      {Object.entries<string>(options).map(([name, title]) => (
        <option key={name} value={name}>
          {title}
        </option>
      ))}
    </Select>
  );
}

interface ChoiceProps<Value extends string> {
  readonly label: string;
  readonly all: string;
  readonly options: Readonly<Record<Value, string>>;
  readonly value: Value | undefined;
  readonly onChange: (value: Value | undefined) => void;
}
