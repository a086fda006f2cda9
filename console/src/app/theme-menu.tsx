import { Monitor, Moon, Sun } from 'lucide-react';
import { text } from '../text/index.ts';
import { IconButton } from '../ui/button.tsx';
import { Menu, MenuChoice } from '../ui/menu.tsx';
import { useTheme } from '../ui/theme.ts';

const ICONS = { light: Sun, dark: Moon, system: Monitor } as const;

export function ThemeMenu() {
  const [theme, setTheme] = useTheme();
  const Icon = ICONS[theme];
  return (
    <Menu
      trigger={
        <IconButton label={text.shell.theme}>
          <Icon aria-hidden className="size-4" />
        </IconButton>
      }
    >
      <MenuChoice
        value={theme}
        onChange={setTheme}
        options={[
          { value: 'light', label: text.shell.themes.light, icon: <Sun aria-hidden /> },
          { value: 'dark', label: text.shell.themes.dark, icon: <Moon aria-hidden /> },
          { value: 'system', label: text.shell.themes.system, icon: <Monitor aria-hidden /> },
        ]}
      />
    </Menu>
  );
}
