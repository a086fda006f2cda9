import type { Endpoint } from '@relay/contract';
import { useState } from 'react';
import { matches } from '../../format/matches.ts';
import { HealthBadge } from '../../parts/health-badge.tsx';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { Popover } from '../../ui/popover.tsx';
import { SearchInput } from '../../ui/search-input.tsx';
import { Signal } from '../../ui/signal.tsx';
import { useEndpointFacts } from './use-endpoint-facts.ts';

const words = text.lanes.editor;
/** Up to this many need no search. */
const SEARCHED_FROM = 8;

interface AddEndpointProps {
  /** Those that are not in the lane. */
  readonly endpoints: readonly Endpoint[];
  readonly onAdd: (endpointId: string) => void;
}

/** The endpoints that can be added, with what tells them apart. */
export function AddEndpoint({ endpoints, onAdd }: AddEndpointProps) {
  const factsOf = useEndpointFacts();
  const [open, setOpen] = useState(false);
  const [query, setQuery] = useState('');
  const add = (endpointId: string) => {
    setOpen(false);
    setQuery('');
    onAdd(endpointId);
  };
  const shown = endpoints
    .map((endpoint) => ({ endpoint, ...factsOf(endpoint) }))
    .filter(({ endpoint: { name }, source }) => matches(query, name, source));
  return (
    <Popover
      wide
      align="start"
      label={words.add}
      open={open}
      onOpenChange={setOpen}
      trigger={<Button>{words.add}</Button>}
    >
      {endpoints.length < SEARCHED_FROM ? null : (
        <div className="mb-2">
          <SearchInput label={text.endpoints.search} value={query} onChange={setQuery} />
        </div>
      )}
      <ul className="-mx-2">
        {shown.map(({ endpoint, source, price }) => (
          <li key={endpoint.id}>
            <button
              type="button"
              onClick={() => add(endpoint.id)}
              className="flex w-full flex-wrap justify-between gap-x-6 rounded-md px-2 py-1.5 text-left text-[13px] hover:bg-hover"
            >
              <span className="min-w-0">
                <span className="block truncate font-medium">{endpoint.name}</span>{' '}
                <span className="block truncate text-xs text-ink-faint">{source}</span>
              </span>{' '}
              <span className="text-xs max-sm:flex max-sm:w-full max-sm:flex-wrap max-sm:justify-between max-sm:gap-x-3 sm:text-right">
                <EndpointState endpoint={endpoint} /> <span className="block text-ink-faint">{price}</span>
              </span>
            </button>
          </li>
        ))}
      </ul>
      {shown.length === 0 ? <p className="text-xs text-ink-faint">{text.states.nothingMatches}</p> : null}
    </Popover>
  );
}

function EndpointState({ endpoint: { enabled, health } }: { readonly endpoint: Endpoint }) {
  return enabled ? <HealthBadge health={health} /> : <Signal tone="neutral">{text.states.disabled}</Signal>;
}
