import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { Page } from './page.tsx';
import { SearchInput } from './search-input.tsx';
import { EmptyState, ErrorCard, NothingMatches } from './states.tsx';

interface ListPageProps {
  readonly title: string;
  readonly words: { readonly description: string; readonly search: string };
  /** Undefined when the caller may not create one. */
  readonly create: ReactNode;
  readonly list: ListState;
  readonly empty: { readonly title: string; readonly action?: ReactNode };
  readonly query: string;
  readonly onQuery: (query: string) => void;
  /** Next to the search. */
  readonly filters?: ReactNode;
  /** The number of rows shown; undefined while loading. */
  readonly shown: number | undefined;
  /** Clears the filters. */
  readonly onClear?: () => void;
  readonly children: ReactNode;
  /** Below the list in every state. */
  readonly below?: ReactNode;
  /** Open dialogs and panels. */
  readonly over: ReactNode;
}

interface ListState {
  readonly error: Error | null;
  readonly data: readonly unknown[] | undefined;
  refetch(): unknown;
}

/** A page with a list in its states: failed, empty, no match, or rows. */
export function ListPage(props: ListPageProps) {
  const { list, empty, query, onQuery } = props;
  return (
    <Page title={props.title} description={props.words.description} actions={props.create}>
      {list.error !== null && list.data === undefined ? (
        <ErrorCard error={list.error} onRetry={() => void list.refetch()} />
      ) : list.data?.length === 0 ? (
        <EmptyState title={empty.title} action={empty.action ?? props.create} />
      ) : (
        <div className="space-y-3.5">
          <div className="flex flex-wrap items-center gap-x-4 gap-y-2.5">
            <SearchInput label={props.words.search} value={query} onChange={onQuery} />
            {props.filters}
          </div>
          {props.shown === 0 ? (
            <NothingMatches onClear={props.onClear ?? (() => onQuery(''))} />
          ) : (
            props.children
          )}
        </div>
      )}
      {props.below}
      {props.over}
    </Page>
  );
}

interface CreateButtonProps {
  readonly label: string;
  readonly onClick: () => void;
}

export function CreateButton({ label, onClick }: CreateButtonProps) {
  return (
    <Button look="solid" onClick={onClick}>
      {label}
    </Button>
  );
}
