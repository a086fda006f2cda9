import type { Lane, Membership } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { endpointsQuery, lanesQuery, membershipsQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { text } from '../../text/index.ts';
import { BackLink } from '../../time-range/back-link.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import { ErrorCard, Skeleton } from '../../ui/states.tsx';
import { LaneEditor } from './lane-editor.tsx';
import { LaneMenu } from './lane-menu.tsx';

const words = text.lanes;

/** The editor page of one lane. */
export function LaneEditorPage() {
  const { laneId } = useParams({ from: '/signed-in/lanes/$laneId' });
  const api = useApi();
  const navigate = useNavigate();
  const lanes = useQuery(lanesQuery(api));
  const memberships = useQuery(membershipsQuery(api));
  const endpoints = useQuery(endpointsQuery(api));
  const error = lanes.error ?? memberships.error ?? endpoints.error;
  const lane = lanes.data?.find(({ id }) => id === laneId);
  const own = memberships.data?.filter(({ lane_id: id }) => id === laneId);
  const toLanes = <BackLink to="/lanes">{words.editor.back}</BackLink>;
  const isReady = lane !== undefined && own !== undefined && endpoints.data !== undefined;
  if (error !== null && !isReady)
    return (
      <Page title={text.pages.lanes}>
        <ErrorCard
          error={error}
          onRetry={() => {
            void lanes.refetch();
            void memberships.refetch();
            void endpoints.refetch();
          }}
        />
      </Page>
    );
  if (lanes.data !== undefined && lane === undefined)
    return (
      <Page title={words.editor.notFound} actions={toLanes}>
        {null}
      </Page>
    );
  return (
    <Page
      back={toLanes}
      title={lane?.name ?? text.states.loading}
      description={lane === undefined ? undefined : <CallAs lane={lane} />}
      actions={
        lane === undefined ? undefined : (
          <LaneMenu lane={lane} onDeleted={() => void navigate({ to: '/lanes' })} />
        )
      }
    >
      {isReady ? <LaneEditor key={versionOf(lane, own)} lane={lane} memberships={own} /> : <EditorSkeleton />}
    </Page>
  );
}

/** Changes with the stored lane, so that the editor restarts from it. */
function versionOf(lane: Lane, memberships: readonly Membership[]): string {
  return JSON.stringify([lane, memberships]);
}

function CallAs({ lane }: { readonly lane: Lane }) {
  return (
    <span className="flex items-center gap-1.5">
      {words.callAs} <code className="font-mono text-[13px]">{lane.slug}</code>
      <CopyButton value={lane.slug} label={words.copySlug} />
    </span>
  );
}

function EditorSkeleton() {
  return (
    <div className="grid gap-5 xl:grid-cols-[minmax(0,1fr)_400px]">
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
