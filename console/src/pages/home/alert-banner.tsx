import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { TriangleAlert } from 'lucide-react';
import { newestAlertsQuery } from '../../api/alert-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { useNow } from '../../ui/use-now.ts';

const words = text.alerts;
const REFRESH_MS = 30_000;

/** Limits that have had an alert in their current window. */
export function AlertBanner() {
  const { can } = useAccess();
  const nowMs = useNow(REFRESH_MS);
  const { data = [] } = useQuery({ ...newestAlertsQuery(useApi()), enabled: can('listAlerts') });
  const open = new Set(
    data.filter(({ window: { end } }) => Date.parse(end) > nowMs).map(({ policy: { id } }) => id),
  );
  if (open.size === 0) return null;
  return (
    <p className="flex flex-wrap items-center gap-2 border-l-[3px] border-warn py-0.5 pl-3 text-warn">
      <TriangleAlert aria-hidden className="size-4 shrink-0" />
      {words.banner(open.size)}
      <Link to="/alerts" className="font-medium underline">
        {words.open}
      </Link>
    </p>
  );
}
