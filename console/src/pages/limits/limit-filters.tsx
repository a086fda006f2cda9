import { useQuery } from '@tanstack/react-query';
import { capabilitiesQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { text } from '../../text/index.ts';
import { Choice, optionsOf } from '../../ui/choice.tsx';
import { classes } from '../../ui/class-names.ts';
import type { LimitPlaces } from './use-limit-places.ts';
import { useLimitSearch } from './use-limit-search.ts';

const words = text.limits;

/** The filters of the limits page, kept in the URL. */
export function LimitFilterBar({ places }: { readonly places: LimitPlaces }) {
  const { filters, choose } = useLimitSearch();
  const { data } = useQuery(capabilitiesQuery(useApi()));
  // Hosted deployments have no shared limits, and only those apply to a credential.
  const isHosted = data?.mode === 'hosted';
  return (
    <div className="grid w-full grid-cols-2 gap-2 sm:flex sm:w-auto sm:flex-wrap">
      <Filter
        label={words.filters.kind}
        all={words.filters.anyKind}
        options={words.kinds}
        {...(isHosted && { hidden: 'resource' })}
        value={filters.kind}
        onChange={(kind) => choose({ kind })}
      />
      <Filter
        label={words.filters.scope}
        all={words.filters.anyScope}
        options={words.scopes}
        {...(isHosted && { hidden: 'credential' })}
        value={filters.scope}
        onChange={(scope) => choose({ scope })}
      />
      <Filter
        label={words.filters.metric}
        all={words.filters.anyMetric}
        options={words.metricNames}
        value={filters.metric}
        onChange={(metric) => choose({ metric })}
      />
      <Filter
        label={words.filters.lane}
        all={words.filters.anyLane}
        options={Object.fromEntries(places.lanes.map(({ id, name }) => [id, words.filters.inLane(name)]))}
        value={filters.lane}
        onChange={(lane) => choose({ lane })}
      />
    </div>
  );
}

function Filter<Value extends string>(props: FilterProps<Value>) {
  const { label, all, options, hidden, value, onChange } = props;
  return (
    <Choice
      aria-label={label}
      value={value ?? ''}
      options={[{ value: '', label: all }, ...optionsOf(options).filter((each) => each.value !== hidden)]}
      className={classes('sm:w-auto sm:max-w-64', value !== undefined && 'border-ink')}
      onChange={(next) => onChange(next === '' ? undefined : next)}
    />
  );
}

interface FilterProps<Value extends string> {
  readonly label: string;
  readonly all: string;
  readonly options: Readonly<Record<Value, string>>;
  /** Left out of the options. */
  readonly hidden?: Value;
  readonly value: Value | undefined;
  readonly onChange: (value: Value | undefined) => void;
}
