import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { classes } from '../ui/class-names.ts';
import { withSearch } from './change-search.ts';

interface LinkTab {
  readonly key: string;
  readonly label: string;
  /** The URL parameters that this tab changes. */
  readonly search: Readonly<Record<string, string | undefined>>;
  /** Set apart from the tabs before it. */
  readonly apart?: boolean;
}

interface LinkTabsProps {
  readonly label: string;
  readonly tabs: readonly LinkTab[];
  readonly current: string;
}

/** Views of a page with a URL each. They are links, so that users can bookmark and share them and go back. */
export function LinkTabs({ label, tabs, current }: LinkTabsProps) {
  const nav = useRef<HTMLElement>(null);
  // In a narrow window the current tab may be scrolled out of view.
  useEffect(() => {
    const chosen = nav.current?.querySelector<HTMLElement>(`[data-tab="${current}"]`);
    if (nav.current !== null && chosen !== null && chosen !== undefined)
      nav.current.scrollLeft = chosen.offsetLeft - (nav.current.clientWidth - chosen.offsetWidth) / 2;
  }, [current]);
  return (
    <nav ref={nav} aria-label={label} className="relative mb-4 overflow-x-auto border-b border-line-strong">
      <ul className="flex min-w-max gap-1">
        {tabs.map(({ key, label: name, search, apart = false }) => (
          <li
            key={key}
            data-tab={key}
            className={classes(apart && 'ml-2 border-l pl-2 sm:ml-auto sm:border-l-0')}
          >
            <Link
              to="."
              search={withSearch(search)}
              resetScroll={false}
              aria-current={key === current ? 'page' : undefined}
              className={classes(
                '-mb-px block border-b-2 px-2.5 py-1.5 text-[13px] whitespace-nowrap focus-visible:-outline-offset-2',
                key === current
                  ? 'border-ink font-medium text-ink'
                  : 'border-transparent text-ink-soft hover:text-ink',
              )}
            >
              {name}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
