import { useQuery } from '@tanstack/react-query';
import { Outlet } from '@tanstack/react-router';
import { Menu as MenuIcon, Search } from 'lucide-react';
import { lazy, Suspense, useEffect, useState } from 'react';
import { capabilitiesQuery } from '../api/queries.ts';
import { useApi } from '../api/use-api.ts';
import { text } from '../text/index.ts';
import { Badge } from '../ui/badge.tsx';
import { Button, IconButton } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Mark } from '../ui/mark.tsx';
import { AccountMenu } from './account-menu.tsx';
import { Navigation } from './navigation.tsx';
import { OrganizationMenu } from './organization-menu.tsx';
import { ThemeMenu } from './theme-menu.tsx';

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
  const search = () => setPaletteOpen(true);
  return (
    <div className="min-h-dvh lg:pl-60">
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:fixed focus:top-3 focus:left-3 focus:z-60 focus:rounded-lg focus:bg-raised focus:px-3 focus:py-2 focus:shadow-raised"
      >
        {text.shell.skip}
      </a>
      <aside className="fixed inset-y-0 left-0 hidden w-60 flex-col border-r bg-sunken lg:flex">
        <div className="space-y-2.5 px-3 pt-3 pb-2">
          <OrganizationMenu />
          <SearchButton onClick={search} />
        </div>
        <Navigation />
        <Footer />
      </aside>
      <header className="sticky top-0 z-30 flex h-13 items-center gap-2 border-b bg-canvas px-3 lg:hidden">
        <IconButton label={text.shell.openNavigation} onClick={() => setNavigationOpen(true)}>
          <MenuIcon aria-hidden className="size-5" />
        </IconButton>
        <Mark />
        <span className="font-semibold">{text.shell.product}</span>
        <IconButton label={text.shell.search} className="ml-auto" onClick={search}>
          <Search aria-hidden className="size-5" />
        </IconButton>
      </header>
      <main id="content" tabIndex={-1} className="focus:outline-none">
        <Outlet />
      </main>
      <Dialog open={navigationOpen} onOpenChange={setNavigationOpen} title={text.shell.product} shape="panel">
        <div className="px-3 pt-3">
          <OrganizationMenu />
        </div>
        <Navigation onNavigate={() => setNavigationOpen(false)} />
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

function SearchButton({ onClick }: { readonly onClick: () => void }) {
  const isApple = /mac|iphone|ipad/i.test(navigator.userAgent);
  return (
    <Button
      className="w-full justify-start font-normal text-ink-faint hover:text-ink-soft"
      size="small"
      onClick={onClick}
    >
      <Search aria-hidden className="size-4" />
      <span className="flex-1 text-left">{text.shell.search}</span>
      <kbd className="rounded border bg-sunken px-1 font-sans text-[11px]">{isApple ? '⌘K' : 'Ctrl K'}</kbd>
    </Button>
  );
}

function Footer() {
  const { data } = useQuery(capabilitiesQuery(useApi()));
  return (
    <div className="space-y-2 border-t px-3 py-3">
      <div className="flex h-5 items-center justify-between px-2 text-xs text-ink-faint">
        {data === undefined ? null : (
          <>
            <Badge tone="accent">{text.shell.modes[data.mode]}</Badge>
            <span>{text.shell.version(data.version)}</span>
          </>
        )}
      </div>
      <div className="flex items-center gap-1">
        <AccountMenu />
        <ThemeMenu />
      </div>
    </div>
  );
}
