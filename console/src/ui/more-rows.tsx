import { useEffect, useRef } from 'react';
import { Button } from './button.tsx';
import { ErrorNote } from './error-note.tsx';

interface MoreRowsProps {
  /** The state of an infinite query. */
  readonly list: {
    readonly hasNextPage: boolean;
    readonly isFetchingNextPage: boolean;
    readonly isFetchNextPageError: boolean;
    readonly error: Error | null;
    fetchNextPage(): unknown;
  };
  readonly label: string;
  /** The number of rows, as text. */
  readonly note: string;
}

/** Below a paged list: loads the next page when it becomes visible, or by its button. */
export function MoreRows({ list, label, note }: MoreRowsProps) {
  const end = useRef<HTMLDivElement>(null);
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError: failed } = list;
  const ready = hasNextPage && !isFetchingNextPage && !failed;
  const { fetchNextPage } = list;
  useEffect(() => {
    const element = end.current;
    if (element === null || !ready) return;
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting === true) fetchNextPage();
      },
      { rootMargin: '600px' },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [ready, fetchNextPage]);
  return (
    <div ref={end} className="flex flex-col items-center gap-3 py-4 text-xs text-ink-faint">
      {failed ? <ErrorNote error={list.error} /> : null}
      <p role="status">{note}</p>
      {hasNextPage ? (
        <Button size="small" busy={isFetchingNextPage} onClick={() => fetchNextPage()}>
          {label}
        </Button>
      ) : null}
    </div>
  );
}
