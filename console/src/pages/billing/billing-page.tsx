import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { type BillingSearch, billingTabs } from '../../address/control-search.ts';
import { LinkTabs } from '../../address/link-tabs.tsx';
import { capabilitiesQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { SpendPages } from '../../parts/spend-pages.tsx';
import { text } from '../../text/index.ts';
import { Page } from '../../ui/page.tsx';
import { HistoryView } from './history-view.tsx';
import { StatementView } from './statement-view.tsx';

const words = text.billing;

/** The billing history in five lists, and a usage statement at configured prices. */
export function BillingPage() {
  const { tab: asked }: BillingSearch = useSearch({ strict: false });
  const { data: capabilities } = useQuery(capabilitiesQuery(useApi()));
  if (capabilities === undefined) return <Page title={text.pages.billing}>{null}</Page>;
  // Nothing is sold where Relay is self-hosted, so there is only the statement.
  if (capabilities.mode === 'self_hosted')
    return (
      <Page
        title={text.pages.billing}
        description={<SpendPages here="/billing" answers={text.spendPages.selfHostedBilling} />}
      >
        <StatementView />
      </Page>
    );
  const tab = asked ?? 'invoices';
  return (
    <Page title={text.pages.billing} description={<SpendPages here="/billing" />}>
      <LinkTabs
        label={words.tabsLabel}
        current={tab}
        tabs={billingTabs.map((each) => ({
          key: each,
          label: words.tabs[each],
          search: { tab: each === 'invoices' ? undefined : each, month: undefined, by: undefined },
          apart: each === 'statement',
        }))}
      />
      {tab === 'statement' ? <StatementView /> : <HistoryView list={tab} />}
    </Page>
  );
}
