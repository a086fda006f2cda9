import type { RouteId } from '@relay/contract';
import { useAccess } from '../session/use-access.ts';
import { usePages } from '../session/use-pages.ts';
import { useSignOut } from '../session/use-sign-out.ts';
import { text } from '../text/index.ts';
import { useTheme } from '../ui/theme.ts';
import type { Target } from './palette-target.ts';

const words = text.palette.actions;

/** What creates something: on its page, in the dialog that the page's own button opens. */
const CREATES: readonly {
  readonly label: string;
  readonly to: string;
  readonly needs: readonly RouteId[];
}[] = [
  { label: text.keys.create, to: '/keys', needs: ['createApiKey'] },
  { label: text.lanes.create, to: '/lanes', needs: ['createLane'] },
  {
    label: text.limits.create,
    to: '/limits',
    needs: ['createLimitPolicy', 'upsertApiKeyLimitPolicy', 'upsertTeamLimitPolicy'],
  },
  { label: text.providers.create, to: '/providers', needs: ['createProvider'] },
  { label: text.guardrails.create, to: '/guardrails', needs: ['createGuardrail'] },
  { label: text.members.invite, to: '/members', needs: ['createInvitation'] },
];

/** The actions that the caller may do. */
export function useActions(): readonly Target[] {
  const { can } = useAccess();
  const pages = usePages();
  const [theme, setTheme] = useTheme();
  const signOut = useSignOut();
  const isDark = document.documentElement.dataset['theme'] === 'dark';
  return [
    ...CREATES.filter(
      ({ to, needs }) => pages.some(({ path }) => path === to) && needs.some((route) => can(route)),
    ).map(({ label, to }): Target => ({ value: `create ${to}`, label, to, started: 'create' })),
    {
      value: `theme ${theme}`,
      label: isDark ? words.light : words.dark,
      aliases: words.themeAliases,
      run: () => setTheme(isDark ? 'light' : 'dark'),
    },
    {
      value: 'sign out',
      label: text.shell.signOut,
      aliases: words.signOutAliases,
      run: () => signOut.mutate(),
    },
  ];
}
