import { useQuery } from '@tanstack/react-query';
import { ChevronsUpDown } from 'lucide-react';
import { sessionQuery } from '../api/queries.ts';
import { useApi } from '../api/use-api.ts';
import { useSwitchOrganization } from '../session/use-switch-organization.ts';
import { text } from '../text/index.ts';
import { Menu, MenuChoice, MenuLabel } from '../ui/menu.tsx';

/** The current organization; a menu for users of several organizations. It takes the colors of what it stands on. */
export function OrganizationMenu() {
  const { data: session } = useQuery(sessionQuery(useApi()));
  const change = useSwitchOrganization();
  if (session === undefined) return null;
  const name = <span className="min-w-0 truncate">{session.org.name}</span>;
  if (session.orgs.length < 2) return name;
  return (
    <Menu
      align="start"
      trigger={
        <button
          type="button"
          aria-label={`${text.shell.switchOrganization}: ${session.org.name}`}
          className="-mx-1 flex h-7 min-w-0 items-center gap-1 rounded px-1"
        >
          {name}
          <ChevronsUpDown aria-hidden className="size-3.5 shrink-0" />
        </button>
      }
    >
      <MenuLabel>{text.shell.switchOrganization}</MenuLabel>
      <MenuChoice
        value={session.org.id}
        options={session.orgs.map(({ id, name: label }) => ({ value: id, label }))}
        onChange={(id) => change.mutate(id)}
      />
    </Menu>
  );
}
