import { useSearch } from '@tanstack/react-router';
import { type BillingSearch, billingTabs } from '../../address/control-search.ts';
import { LinkTabs } from '../../address/link-tabs.tsx';
import { text } from '../../text/index.ts';
import { Page } from '../../ui/page.tsx';
import { HistoryView } from './history-view.tsx';
import { StatementView } from './statement-view.tsx';

const words = text.billing;

/** The billing history in five lists, and a usage statement at configured prices. */
export function BillingPage() {
  const { tab = 'invoices' }: BillingSearch = useSearch({ strict: false });
  return (
    <Page title={text.pages.billing} description={words.description}>
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
