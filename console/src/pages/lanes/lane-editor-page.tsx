import type { Lane } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { endpointsQuery, laneQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { hasCode } from '../../errors/api-error.ts';
import { text } from '../../text/index.ts';
import { BackLink } from '../../time-range/back-link.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import { ErrorCard, Skeleton } from '../../ui/states.tsx';
import { LaneEditor } from './lane-editor.tsx';
import { LaneMarks } from './lane-marks.tsx';
import { LaneMenu } from './lane-menu.tsx';

const words = text.lanes;

/** The editor page of one lane. */
export function LaneEditorPage() {
  const { laneId } = useParams({ from: '/signed-in/lanes/$laneId' });
  const api = useApi();
  const navigate = useNavigate();
  const stored = useQuery(laneQuery(api, laneId));
  const endpoints = useQuery(endpointsQuery(api));
  const error = stored.error ?? endpoints.error;
  const lane = stored.data?.lane;
  const toLanes = <BackLink to="/lanes">{words.editor.back}</BackLink>;
  const isReady = stored.data !== undefined && endpoints.data !== undefined;
  if (hasCode(stored.error, 'not_found'))
    return (
      <Page title={words.editor.notFound} actions={toLanes}>
        {null}
      </Page>
    );
  if (error !== null && !isReady)
    return (
      <Page title={text.pages.lanes}>
        <ErrorCard
          error={error}
          onRetry={() => {
            void stored.refetch();
            void endpoints.refetch();
          }}
        />
      </Page>
    );
  return (
    <Page
      back={
        <>
          {toLanes}
          {lane === undefined ? null : <CallAs lane={lane} />}
        </>
      }
      title={lane?.name ?? text.states.loading}
      beside={lane === undefined ? undefined : <LaneMarks lane={lane} />}
      actions={
        lane === undefined ? undefined : (
          <LaneMenu lane={lane} onDeleted={() => void navigate({ to: '/lanes' })} />
        )
      }
    >
      {isReady ? (
        <LaneEditor key={laneId} stored={stored.data} reload={async () => (await stored.refetch()).data} />
      ) : (
        <EditorSkeleton />
      )}
    </Page>
  );
}

function CallAs({ lane }: { readonly lane: Lane }) {
  return (
    <span className="flex min-w-0 items-center gap-1.5 text-ink-faint">
      <span aria-hidden>/</span>
      <code className="min-w-0 truncate font-mono text-xs">{words.callAs(lane.slug)}</code>
      <CopyButton value={lane.slug} label={words.copySlug} />
    </span>
  );
}

function EditorSkeleton() {
  return (
    <div className="grid gap-x-7 gap-y-5 xl:grid-cols-[minmax(0,1fr)_400px]">
      <div className="space-y-5">
        <Panel title={words.editor.members}>
          <div className="space-y-4 p-4">
            <Skeleton className="w-full" />
            <Skeleton className="w-full" />
          </div>
        </Panel>
        <Panel title={words.editor.settings}>
          <div className="space-y-4 p-4">
            <Skeleton className="h-9 w-full" />
            <Skeleton className="h-16 w-full" />
          </div>
        </Panel>
      </div>
      <Panel title={words.explain.title}>
        <div className="p-4">
          <Skeleton className="h-24 w-full" />
        </div>
      </Panel>
    </div>
  );
}
