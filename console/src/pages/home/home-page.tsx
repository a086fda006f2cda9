import { useMemo } from 'react';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { TimeRangeMenu } from '../../time-range/time-range-menu.tsx';
import { useTimeRange } from '../../time-range/use-time-range.ts';
import { Page } from '../../ui/page.tsx';
import { EmptyState, ErrorCard } from '../../ui/states.tsx';
import { useNow } from '../../ui/use-now.ts';
import { AlertBanner } from './alert-banner.tsx';
import { EndpointHealth } from './endpoint-health.tsx';
import { incompleteWords } from './incomplete.ts';
import { IncompleteNote } from './incomplete-note.tsx';
import { KeySpendTable } from './key-spend-table.tsx';
import { Lead } from './lead.tsx';
import { SetupChecklist } from './setup-checklist.tsx';
import { TopList } from './top-list.tsx';
import { TrafficSection } from './traffic-section.tsx';
import { useDismissed } from './use-dismissed.ts';
import { seriesNow, useHomeFigures, useTotals } from './use-home-figures.ts';
import { placeOfChecklist, useSetup } from './use-setup.ts';

const words = text.home;
const REFRESH_MS = 15_000;

/** The home page: health, traffic and spend. */
export function HomePage() {
  const { setup, error } = useSetup();
  const { holds } = useAccess();
  const started = setup === undefined || setup.requests > 0;
  const [isDismissed, dismiss] = useDismissed();
  const place = setup === undefined || error !== null ? null : placeOfChecklist(setup, isDismissed);
  const checklist =
    setup === undefined ? null : (
      <SetupChecklist steps={setup.steps} onDismiss={setup.requests > 0 ? dismiss : undefined} />
    );
  return (
    <Page
      title={text.pages.home}
      description={holds('relay:usage:read:organization') ? undefined : words.onlyMine}
      actions={started ? <TimeRangeMenu /> : undefined}
    >
      <div className="space-y-6">
        <AlertBanner />
        {place === 'first' ? checklist : null}
        {started ? <Figures /> : setup.steps.length === 0 ? <NothingYet /> : null}
        {place === 'last' ? checklist : null}
      </div>
    </Page>
  );
}

/** For callers who cannot set up anything. */
function NothingYet() {
  return <EmptyState title={words.empty} />;
}

function Figures() {
  const { range, choose } = useTimeRange();
  const { can } = useAccess();
  const figures = useHomeFigures(range);
  const totals = useTotals(figures, range);
  const { states, models } = figures;
  const { from } = range;
  const incomplete = incompleteWords(states.data?.complete_until, useNow(REFRESH_MS), words.incomplete);
  const spendByModel = useMemo(() => models.data && seriesNow(models.data, from), [models.data, from]);
  const failed = Object.values(figures).find((each) => each.error !== null && each.data === undefined);
  if (failed !== undefined && failed.error !== null)
    return (
      <ErrorCard
        error={failed.error}
        onRetry={() => {
          for (const each of Object.values(figures)) if (each.isError) void each.refetch();
        }}
      />
    );
  const onSelect = (start: string, end: string) => choose({ from: start, to: end });
  return (
    <>
      <IncompleteNote words={incomplete} />
      <Lead
        requests={totals.requests}
        failed={totals.failed}
        isOutdated={states.isError || incomplete !== null}
        range={range}
      />
      <TrafficSection figures={figures} totals={totals} range={range} onSelect={onSelect} />
      <div className="grid gap-x-7 gap-y-5 lg:grid-cols-2 xl:grid-cols-[1.7fr_1fr_1.2fr]">
        <KeySpendTable figures={figures} range={range} />
        <TopList title={words.topModels} group="model" series={spendByModel} />
        {can('listEndpoints') ? <EndpointHealth /> : null}
      </div>
      <p className="text-xs text-ink-faint">{text.usage.notAnInvoice}</p>
    </>
  );
}
