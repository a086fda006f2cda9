import { useQuery } from '@tanstack/react-query';
import { CircleUser, LogOut } from 'lucide-react';
import { sessionQuery } from '../api/queries.ts';
import { useApi } from '../api/use-api.ts';
import { useSignOut } from '../session/use-sign-out.ts';
import { text } from '../text/index.ts';
import { Button } from '../ui/button.tsx';
import { Menu, MenuItem, MenuLabel } from '../ui/menu.tsx';

export function AccountMenu() {
  const { data: session } = useQuery(sessionQuery(useApi()));
  const signOut = useSignOut();
  if (session === undefined) return null;
  return (
    <Menu
      align="start"
      trigger={
        <Button look="quiet" size="small" className="min-w-0 flex-1 justify-start px-2 font-normal">
          <CircleUser aria-hidden className="size-4 shrink-0" />
          <span className="truncate">{session.user.name}</span>
        </Button>
      }
    >
      <MenuLabel>{session.user.email}</MenuLabel>
      <MenuItem icon={<LogOut aria-hidden />} onSelect={() => signOut.mutate()}>
        {text.shell.signOut}
      </MenuItem>
    </Menu>
  );
}
