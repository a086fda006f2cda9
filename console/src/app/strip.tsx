import { Link } from '@tanstack/react-router';
import { Menu as MenuIcon, Search } from 'lucide-react';
import type { RequestSearch } from '../address/request-search.ts';
import { formatCount, formatDuration, formatMoneyShort } from '../format/numbers.ts';
import { formatClock } from '../format/times.ts';
import { SlotPlate } from '../parts/slot-plate.tsx';
import { text } from '../text/index.ts';
import type { TimeRangeSearch } from '../time-range/time-range.ts';
import { classes } from '../ui/class-names.ts';
import { Mark } from '../ui/mark.tsx';
import { Plate } from '../ui/plate.tsx';
import { useNow } from '../ui/use-now.ts';
import { OrganizationMenu } from './organization-menu.tsx';
import type { Total, Totals } from './use-totals.ts';

const words = text.shell;

interface StripProps {
  readonly totals: Totals;
  readonly onMenu: () => void;
  readonly onSearch: () => void;
}

/** The black bar on every page: what happens now, and the clock. */
export function Strip({ totals, onMenu, onSearch }: StripProps) {
  return (
    <header className="sticky top-0 z-30 flex h-[44px] [contain:layout_size] items-center border-b border-board-line bg-board pr-3 text-xs text-board-ink-soft [&_:focus-visible]:outline-signal">
      <button
        type="button"
        aria-label={words.openNavigation}
        onClick={onMenu}
        className="grid size-[44px] shrink-0 place-items-center text-board-ink focus-visible:-outline-offset-2 lg:hidden"
      >
        <MenuIcon aria-hidden className="size-5" />
      </button>
      <div className="flex min-w-0 shrink-0 items-center gap-[9px] lg:w-[196px] lg:pl-4">
        <Mark />
        <span className="text-[15px] font-semibold text-board-ink [font-stretch:104%] max-[340px]:sr-only">
          {words.product}
        </span>
        <div className="min-w-0 text-[13px] max-lg:hidden">
          <OrganizationMenu />
        </div>
      </div>
      <SearchButton onClick={onSearch} />
      <Now totals={totals} />
    </header>
  );
}

function SearchButton({ onClick }: { readonly onClick: () => void }) {
  const isApple = /mac|iphone|ipad/i.test(navigator.userAgent);
  return (
    <button
      type="button"
      onClick={onClick}
      className="flex items-center gap-2 rounded-lg border-board-line px-2 max-lg:ml-1 max-lg:size-9 max-lg:justify-center max-lg:text-board-ink lg:h-7 lg:w-[220px] lg:border lg:bg-board-2 xl:w-[268px]"
    >
      <Search aria-hidden className="size-3.5 shrink-0 max-lg:size-4" />
      <span className="flex-1 text-left max-lg:sr-only">{words.search}</span>
      <kbd className="font-mono text-[11px] max-lg:hidden">{isApple ? '⌘K' : 'Ctrl K'}</kbd>
    </button>
  );
}

function Now({ totals }: { readonly totals: Totals }) {
  const { waiting, inFlight, nextSlotAtMs, rejected, spentMicros, isUnpriced } = totals;
  const isWaiting = typeof waiting === 'number' && waiting > 0;
  return (
    <div className="ml-auto flex h-full items-center whitespace-nowrap">
      <TotalLink
        name={words.totals.inFlight}
        value={inFlight}
        format={formatCount}
        to="/live"
        from="max-md:hidden"
      />
      <TotalLink
        name={words.totals.waiting}
        value={waiting}
        format={formatCount}
        to="/live"
        look={isWaiting ? 'text-signal' : undefined}
      />
      {isWaiting ? (
        <Link
          to="/live"
          className="flex h-6 items-center gap-[7px] border-l border-board-line px-[13px] max-md:px-2"
        >
          <span className="max-md:sr-only">
            {nextSlotAtMs === null ? words.totals.longestWait : words.totals.nextSlot}
          </span>
          {nextSlotAtMs === null ? (
            <Plate>{formatDuration(Math.round(totals.longestWaitMs / 100) * 100)}</Plate>
          ) : (
            <SlotPlate atMs={nextSlotAtMs} />
          )}
        </Link>
      ) : null}
      <TotalLink
        name={words.totals.rejected}
        value={rejected}
        format={formatCount}
        to="/requests"
        search={{ state: 'failed', range: '15m' }}
        from="max-xl:hidden"
      />
      <TotalLink
        name={words.totals.spend}
        value={spentMicros}
        format={(micros) => (isUnpriced ? words.totals.unpriced : formatMoneyShort(micros))}
        to="/usage"
        from="max-lg:hidden"
      />
      <Clock />
    </div>
  );
}

interface TotalLinkProps {
  readonly name: string;
  readonly value: Total;
  readonly format: (value: number) => string;
  readonly to: '/live' | '/requests' | '/usage';
  readonly search?: RequestSearch & TimeRangeSearch;
  /** The narrowest window that shows it. */
  readonly from?: string;
  readonly look?: string | undefined;
}

/** Nothing while loading and without access; a dash where the value is unknown. */
function TotalLink({ name, value, format, to, search = {}, from, look }: TotalLinkProps) {
  if (value === undefined) return null;
  return (
    <Link
      to={to}
      search={search}
      className={classes(
        'flex h-6 items-center gap-[7px] border-l border-board-line px-[13px] first:border-l-0 max-md:px-2',
        from,
      )}
    >
      {name}
      <b className={classes('font-semibold', look ?? 'text-board-ink')}>
        {value === null ? text.states.empty : format(value)}
      </b>
    </Link>
  );
}

function Clock() {
  const now = new Date(useNow(1_000)).toISOString();
  return (
    <time
      dateTime={now}
      className="border-l border-board-line pl-[13px] font-mono text-[13px] text-board-ink max-md:pl-2 max-[400px]:hidden"
    >
      {formatClock(now)}
      <span className="max-md:hidden"> UTC</span>
    </time>
  );
}
