import { Link } from '@tanstack/react-router';
import { EndpointSignal, InFlight } from '../../parts/endpoint-state.tsx';
import { text } from '../../text/index.ts';
import type { BoardEndpoint } from './board-rows.ts';

/** An endpoint in a lane: rank, load of all lanes and signal, each a cell of the way. */
export function EndpointLoad({ endpoint }: { readonly endpoint: BoardEndpoint }) {
  const { id, name, rank } = endpoint;
  return (
    <>
      <span className="flex min-w-0 items-baseline gap-[7px] pr-2 xl:pl-3">
        <span className="w-[9px] shrink-0 text-right text-xs text-ink-faint">
          {rank ?? text.states.empty}
        </span>
        <Link
          to="/endpoints"
          search={{ open: id }}
          title={name}
          className="min-w-0 truncate rounded py-[3px] hover:underline"
        >
          {name}
        </Link>
      </span>
      <InFlight of={endpoint} />
      <EndpointSignal of={endpoint} />
    </>
  );
}
