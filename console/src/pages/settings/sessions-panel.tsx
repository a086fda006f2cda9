import type { BrowserSession } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { Monitor, Smartphone } from 'lucide-react';
import { browserSessionsQuery } from '../../api/people-queries.ts';
import { cacheKeys } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useChange } from '../../api/use-change.ts';
import { type Device, deviceOf } from '../../format/user-agent.ts';
import { text } from '../../text/index.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Panel } from '../../ui/page.tsx';
import { ErrorCard, Skeleton } from '../../ui/states.tsx';
import { Ago } from '../../ui/time.tsx';

const words = text.settings.security;

/** The user's sessions. The current one ends by signing out. */
export function SessionsPanel() {
  const sessions = useQuery(browserSessionsQuery(useApi()));
  if (sessions.error !== null && sessions.data === undefined)
    return <ErrorCard error={sessions.error} onRetry={() => void sessions.refetch()} />;
  return (
    <Panel title={words.sessions}>
      <ul className="mx-4 divide-y" aria-busy={sessions.data === undefined || undefined}>
        {sessions.data === undefined ? (
          <li className="flex h-[61px] items-center">
            <Skeleton className="w-56" />
          </li>
        ) : (
          sessions.data.map((session) => <SessionLine key={session.id} session={session} />)
        )}
      </ul>
      <p className="mx-4 border-t py-2.5 text-xs text-ink-faint">{words.sessionsHint}</p>
    </Panel>
  );
}

function SessionLine({ session }: { readonly session: BrowserSession }) {
  const device = deviceOf(session.user_agent ?? '');
  const name = nameOf(device);
  const Icon = device.system === 'iOS' || device.system === 'Android' ? Smartphone : Monitor;
  const end = useChange({
    run: (api) =>
      api.DELETE('/api/account/sessions/{session_id}', { params: { path: { session_id: session.id } } }),
    stale: [cacheKeys.browserSessions],
    said: () => words.ended,
  });
  return (
    <li className="py-2.5">
      <div className="flex items-center gap-3">
        <Icon aria-hidden className="size-4 shrink-0 text-ink-faint" />
        <div className="min-w-0 flex-1" title={session.user_agent ?? undefined}>
          <p className="flex flex-wrap items-center gap-x-2 text-[13px] font-medium">
            {name}
            {session.current ? <Badge tone="note">{words.current}</Badge> : null}
          </p>
          <p className="flex flex-wrap gap-x-3 text-xs text-ink-faint">
            {session.ip_address === null ? null : <span className="font-mono">{session.ip_address}</span>}
            <span>
              {words.began} <Ago at={session.created_at} />
            </span>
            <span>
              {words.expires} <Ago at={session.expires_at} />
            </span>
          </p>
        </div>
        {session.current ? null : (
          <Button
            size="small"
            aria-label={words.endOf(name)}
            busy={end.isPending}
            onClick={() => end.mutate(undefined)}
          >
            {words.end}
          </Button>
        )}
      </div>
      <ErrorNote error={end.error} className="mt-2" />
    </li>
  );
}

function nameOf({ browser, system }: Device): string {
  if (browser !== null && system !== null) return words.device(browser, system);
  return browser ?? system ?? words.unknownDevice;
}
