import type { RequestDetail } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { capabilitiesQuery, lanesQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';

const words = text.requests.detail.actions;

interface DetailActionsProps {
  readonly detail: RequestDetail;
  readonly onExplain: () => void;
}

/** What can be done with a finished request: route it again, send a similar one, share it. */
export function DetailActions({ detail, onExplain }: DetailActionsProps) {
  const { can } = useAccess();
  const api = useApi();
  const { data: capabilities } = useQuery(capabilitiesQuery(api));
  const lanes = useQuery({ ...lanesQuery(api), enabled: can('listLanes') });
  const { model, operation, lane_id: laneId } = detail;
  // Clients may name a lane as they like; the playground lists its slug.
  const slug = lanes.data?.find(({ id }) => id === laneId)?.slug;
  const debugInfo = { relay_version: capabilities?.version ?? null, request: detail };
  return (
    <div className="flex flex-wrap gap-2 max-sm:grid max-sm:grid-cols-2">
      {model !== null && can('explainRouting') ? <Button onClick={onExplain}>{words.explain}</Button> : null}
      {model !== null && can('createChatCompletion') ? (
        <Button asChild>
          <Link to="/playground" search={{ model: slug ?? model, operation }}>
            {words.playground}
          </Link>
        </Button>
      ) : null}
      <CopyButton worded value={linkOf(detail)} label={words.link} />
      <CopyButton worded value={JSON.stringify(debugInfo, null, 2)} label={words.debug} />
    </div>
  );
}

/** Opens for everyone in the organization who may see the request. Without the list that it was opened from. */
function linkOf({ request_id: id }: RequestDetail): string {
  return new URL(`/console/requests/${id}`, location.origin).href;
}
