import { Download, RotateCw } from 'lucide-react';
import type { ReactNode } from 'react';
import type { RequestFilters } from '../../address/request-search.ts';
import { type RequestsShown, requestQueryOf } from '../../api/request-queries.ts';
import { text } from '../../text/index.ts';
import type { TimeRangeSearch } from '../../time-range/time-range.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { SavedViewsMenu } from './saved-views-menu.tsx';

const words = text.requests;

interface RequestActionsProps {
  readonly filters: RequestFilters;
  readonly range: TimeRangeSearch;
  readonly shown: RequestsShown;
  readonly onShow: (filters: RequestFilters, range: TimeRangeSearch) => void;
  readonly onReadAgain: () => void;
  /** Rendered before the other actions. */
  readonly children: ReactNode;
}

/** The actions on the list. */
export function RequestActions(props: RequestActionsProps) {
  const { filters, range, shown, onShow, onReadAgain } = props;
  return (
    <div className="ml-auto flex flex-wrap items-center gap-2">
      {props.children}
      <SavedViewsMenu filters={filters} range={range} onOpen={(view) => onShow(view.filters, view.range)} />
      <IconButton label={words.refresh} look="outline" onClick={onReadAgain}>
        <RotateCw aria-hidden className="size-4" />
      </IconButton>
      <Button asChild size="icon">
        <a
          href={`/api/relay/requests.csv?${new URLSearchParams(requestQueryOf(shown))}`}
          download
          aria-label={words.csv}
          title={words.csv}
        >
          <Download aria-hidden className="size-4" />
        </a>
      </Button>
    </div>
  );
}
