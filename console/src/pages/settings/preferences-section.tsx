import { useQuery } from '@tanstack/react-query';
import { Monitor, Moon, Sun } from 'lucide-react';
import { useId } from 'react';
import { take } from '../../api/client.ts';
import { cacheKeys, sessionQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useChange } from '../../api/use-change.ts';
import { keysOf } from '../../format/values.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { classes } from '../../ui/class-names.ts';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Switch } from '../../ui/switch.tsx';
import { useTheme } from '../../ui/theme.ts';
import { SettingPanel } from './setting-panel.tsx';

const words = text.settings.preferences;
const ICONS = { light: Sun, dark: Moon, system: Monitor } as const;
const THEMES = keysOf(ICONS);

export function PreferencesSection() {
  const { can } = useAccess();
  return (
    <>
      <SettingPanel title={words.appearance}>
        <ThemeChoice />
      </SettingPanel>
      {can('updatePreferences') ? <NewsPanel /> : null}
    </>
  );
}

function ThemeChoice() {
  const [theme, setTheme] = useTheme();
  const name = useId();
  return (
    <fieldset>
      <legend className="mb-2 text-[13px] font-medium">{words.theme}</legend>
      <div className="grid grid-cols-3 gap-2">
        {THEMES.map((each) => {
          const Icon = ICONS[each];
          return (
            <label
              key={each}
              className={classes(
                'flex cursor-pointer flex-col items-center gap-2 rounded-lg border px-3 py-4 text-[13px]',
                'has-focus-visible:outline-2 has-focus-visible:outline-focus',
                each === theme
                  ? 'border-ink bg-hover font-medium text-ink'
                  : 'text-ink-soft hover:bg-hover hover:text-ink',
              )}
            >
              <input
                type="radio"
                name={name}
                value={each}
                checked={each === theme}
                onChange={() => setTheme(each)}
                className="sr-only"
              />
              <Icon aria-hidden className="size-5" />
              {text.shell.themes[each]}
            </label>
          );
        })}
      </div>
      <p className="mt-2 text-xs text-ink-faint">{words.themeHint}</p>
    </fieldset>
  );
}

/** Preferences stored on the server, for every browser. */
function NewsPanel() {
  const { data: session } = useQuery(sessionQuery(useApi()));
  const save = useChange({
    run: (api, wanted: boolean) =>
      take(api.PATCH('/api/account/preferences', { body: { marketing_opt_in: wanted } })),
    stale: [cacheKeys.session],
    said: () => words.saved,
  });
  if (session === undefined) return null;
  return (
    <SettingPanel title={words.mail}>
      <div className="flex items-start justify-between gap-4">
        <div className="min-w-0">
          <div className="text-[13px] font-medium">{words.marketing}</div>
          <p className="mt-0.5 text-xs text-ink-faint">{words.marketingHint}</p>
        </div>
        <Switch
          label={words.marketing}
          checked={save.isPending ? save.variables : session.user.marketing_opt_in}
          disabled={save.isPending}
          onChange={save.mutate}
        />
      </div>
      <ErrorNote error={save.error} className="mt-4" />
    </SettingPanel>
  );
}
