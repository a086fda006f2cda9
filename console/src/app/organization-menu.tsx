import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { ChevronsUpDown } from 'lucide-react';
import { take } from '../api/client.ts';
import { sessionQuery } from '../api/queries.ts';
import { useApi } from '../api/use-api.ts';
import { enterSession } from '../session/enter-session.ts';
import { text } from '../text/index.ts';
import { Mark } from '../ui/mark.tsx';
import { Menu, MenuChoice, MenuLabel } from '../ui/menu.tsx';
import { Skeleton } from '../ui/states.tsx';

/** The current organization; a menu for users of several organizations. */
export function OrganizationMenu() {
  const api = useApi();
  const client = useQueryClient();
  const { data: session } = useQuery(sessionQuery(api));
  const change = useMutation({
    mutationFn: (id: string) => take(api.PATCH('/api/session', { body: { org_id: id } })),
    onSuccess: (next) => enterSession(client, next),
  });
  const name = (
    <span className="min-w-0 flex-1 truncate text-left text-[13px] font-semibold">
      {session === undefined ? <Skeleton className="w-24" /> : session.org.name}
    </span>
  );
  if (session === undefined || session.orgs.length < 2)
    return (
      <div className="flex h-9 items-center gap-2.5 px-2">
        <Mark />
        {name}
      </div>
    );
  return (
    <Menu
      align="start"
      trigger={
        <button
          type="button"
          aria-label={`${text.shell.switchOrganization}: ${session.org.name}`}
          className="flex h-9 w-full items-center gap-2.5 rounded-lg px-2 hover:bg-hover"
        >
          <Mark />
          {name}
          <ChevronsUpDown aria-hidden className="size-4 text-ink-faint" />
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
