import type { Guardrail } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { guardrailQuery, guardrailStatsQuery } from '../../api/guardrail-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { StateBadges } from '../../parts/health-badge.tsx';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { BackLink } from '../../time-range/back-link.tsx';
import { TimeRangeMenu } from '../../time-range/time-range-menu.tsx';
import { useTimeRange } from '../../time-range/use-time-range.ts';
import { Page, Panel } from '../../ui/page.tsx';
import { ErrorCard, Skeleton } from '../../ui/states.tsx';
import { BindingsPanel } from './bindings-panel.tsx';
import { GuardrailCharts } from './guardrail-charts.tsx';
import { GuardrailMenu } from './guardrail-menu.tsx';
import { GuardrailSettings } from './guardrail-settings.tsx';
import { hostOf, phaseOf } from './guardrail-words.ts';
import { SampleTest } from './sample-test.tsx';

const words = text.guardrails;

/** One guardrail: charts, bindings, settings and a test. */
export function GuardrailPage() {
  const { guardrailId } = useParams({ from: '/signed-in/guardrails/$guardrailId' });
  const api = useApi();
  const navigate = useNavigate();
  const { can } = useAccess();
  const { range, choose } = useTimeRange();
  const detail = useQuery(guardrailQuery(api, guardrailId));
  const stats = useQuery(guardrailStatsQuery(api, guardrailId, range));
  const guardrail = detail.data?.guardrail;
  const back = <BackLink to="/guardrails">{words.back}</BackLink>;
  if (detail.error !== null && guardrail === undefined)
    return (
      <Page back={back} title={text.pages.guardrails}>
        <ErrorCard error={detail.error} onRetry={() => void detail.refetch()} />
      </Page>
    );
  const mayWrite = guardrail !== undefined && can('updateGuardrail') && guardrail.managed_by !== 'file';
  return (
    <Page
      back={back}
      title={guardrail?.name ?? text.states.loading}
      description={guardrail === undefined ? undefined : <Summary guardrail={guardrail} />}
      actions={
        <>
          <TimeRangeMenu />
          {mayWrite ? (
            <GuardrailMenu guardrail={guardrail} onDeleted={() => void navigate({ to: '/guardrails' })} />
          ) : null}
        </>
      }
    >
      <div className="grid items-start gap-x-7 gap-y-5 xl:grid-cols-[minmax(0,1fr)_400px]">
        <div className="min-w-0 space-y-5">
          <GuardrailCharts
            guardrailId={guardrailId}
            stats={stats.data}
            error={stats.error}
            onRetry={() => void stats.refetch()}
            bucket={range.bucket}
            onSelect={(from, to) => choose({ from, to })}
          />
        </div>
        <div className="min-w-0 space-y-5 xl:row-span-2">
          {detail.data === undefined ? (
            <PanelSkeleton />
          ) : (
            <>
              <BindingsPanel
                guardrail={detail.data.guardrail}
                bindings={detail.data.bindings}
                mayWrite={mayWrite && can('replaceGuardrailBindings')}
              />
              {can('testGuardrail') ? <SampleTest guardrail={detail.data.guardrail} /> : null}
            </>
          )}
        </div>
        <div className="min-w-0">
          {guardrail === undefined ? <PanelSkeleton /> : <GuardrailSettings guardrail={guardrail} />}
        </div>
      </div>
    </Page>
  );
}

function Summary({ guardrail }: { readonly guardrail: Guardrail }) {
  return (
    <span className="flex flex-wrap items-center gap-x-2.5 gap-y-1 text-[13px]">
      <StateBadges enabled={guardrail.enabled} managedBy={guardrail.managed_by} />
      <span>{phaseOf(guardrail)}</span>
      <code className="min-w-0 truncate font-mono text-xs text-ink-faint">{hostOf(guardrail.base_url)}</code>
    </span>
  );
}

function PanelSkeleton() {
  return (
    <Panel>
      <div className="space-y-4 p-4">
        <Skeleton className="w-32" />
        <Skeleton className="w-full" />
        <Skeleton className="w-3/4" />
      </div>
    </Panel>
  );
}
