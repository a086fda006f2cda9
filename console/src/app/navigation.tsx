import { Link } from '@tanstack/react-router';
import { keysOf } from '../format/values.ts';
import { usePages } from '../session/use-pages.ts';
import { text } from '../text/index.ts';
import { timeRangeSearch } from '../time-range/time-range.ts';

const GROUPS = keysOf(text.shell.groups);

export function Navigation({ onNavigate }: { readonly onNavigate?: () => void }) {
  const pages = usePages();
  return (
    <nav aria-label={text.shell.navigation} className="flex-1 space-y-5 overflow-y-auto px-3 py-2">
      {GROUPS.map((group) => {
        const ofGroup = pages.filter((page) => page.group === group);
        if (ofGroup.length === 0) return null;
        return (
          <div key={group}>
            <h2 className="mb-1 px-2 text-[11px] font-medium tracking-wide text-ink-faint uppercase">
              {text.shell.groups[group]}
            </h2>
            <ul className="space-y-px">
              {ofGroup.map(({ path, label, icon: Icon }) => (
                <li key={path}>
                  <Link
                    to={path}
                    search={(before: Record<string, unknown>) => timeRangeSearch(before)}
                    onClick={() => onNavigate?.()}
                    activeOptions={{ includeSearch: false }}
                    className="flex h-8 items-center gap-2.5 rounded-lg px-2 text-[13px] text-ink-soft transition-colors hover:bg-hover hover:text-ink"
                    activeProps={{ className: 'bg-hover !text-ink font-medium [&_svg]:text-accent' }}
                  >
                    <Icon aria-hidden className="size-4 shrink-0" />
                    {label}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        );
      })}
    </nav>
  );
}
