import { useQuery } from '@tanstack/react-query';
import { Outlet } from '@tanstack/react-router';
import { lazy, Suspense, useCallback, useEffect, useState } from 'react';
import { capabilitiesQuery } from '../api/queries.ts';
import { useApi } from '../api/use-api.ts';
import { text } from '../text/index.ts';
import { Dialog } from '../ui/dialog.tsx';
import { AccountMenu } from './account-menu.tsx';
import { Navigation } from './navigation.tsx';
import { OrganizationMenu } from './organization-menu.tsx';
import { Strip } from './strip.tsx';
import { ThemeMenu } from './theme-menu.tsx';
import { PaletteContext } from './use-palette.ts';
import { useTotals } from './use-totals.ts';

const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }));

/** The layout around every page. */
export function Shell() {
  const [navigationOpen, setNavigationOpen] = useState(false);
  const [paletteOpen, setPaletteOpen] = useState(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      setPaletteOpen((open) => !open);
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
  const totals = useTotals();
  const openPalette = useCallback(() => setPaletteOpen(true), []);
  return (
    <div className="min-h-dvh">
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:fixed focus:top-3 focus:left-3 focus:z-60 focus:rounded-lg focus:bg-raised focus:px-3 focus:py-2 focus:shadow-raised"
      >
        {text.shell.skip}
      </a>
      <Strip totals={totals} onMenu={() => setNavigationOpen(true)} onSearch={() => setPaletteOpen(true)} />
      <aside className="fixed top-[44px] bottom-0 left-0 hidden w-[196px] flex-col border-r lg:flex">
        <Navigation totals={totals} />
        <Footer />
      </aside>
      <main id="content" tabIndex={-1} className="focus:outline-none lg:pl-[196px]">
        <PaletteContext value={openPalette}>
          <Outlet />
        </PaletteContext>
      </main>
      <Dialog open={navigationOpen} onOpenChange={setNavigationOpen} title={text.shell.product} shape="panel">
        <div className="px-5 text-ink-soft">
          <OrganizationMenu />
        </div>
        <Navigation totals={totals} onNavigate={() => setNavigationOpen(false)} />
        <Footer />
      </Dialog>
      {paletteOpen ? (
        <Suspense>
          <Palette onClose={() => setPaletteOpen(false)} />
        </Suspense>
      ) : null}
    </div>
  );
}

function Footer() {
  const { data } = useQuery(capabilitiesQuery(useApi()));
  return (
    <div className="px-2.5 pb-2.5 text-xs text-ink-faint">
      <div className="flex items-center gap-1">
        <AccountMenu />
        <ThemeMenu />
      </div>
      <p className="h-5 truncate px-2 pt-1">
        {data === undefined ? null : `${data.version} · ${text.shell.modes[data.mode]}`}
      </p>
    </div>
  );
}
