import type {
  BillingActivity,
  BillingDispute,
  BillingHistory,
  BillingInvoice,
  BillingPayment,
  BillingRefund,
} from '@relay/contract';
import { ExternalLink, FileText } from 'lucide-react';
import type { ReactNode } from 'react';
import { formatAmount } from '../../format/numbers.ts';
import { formatDay } from '../../format/times.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { type Column, nameWidth } from '../../ui/data-table.tsx';
import { Time } from '../../ui/time.tsx';
import { StatusBadge } from './status-badge.tsx';

const words = text.billing;

interface Amounted {
  readonly currency: string;
}

const dayColumn = <Row extends { readonly created_at: string }>(): Column<Row> => ({
  id: 'date',
  header: words.columns.date,
  align: 'right',
  sortBy: ({ created_at: at }) => at,
  cell: ({ created_at: at }) => (
    <span className="whitespace-nowrap text-ink-soft">
      <Time at={at} format={formatDay} />
    </span>
  ),
});

const statusColumn = <Row extends { readonly status: string | null }>(): Column<Row> => ({
  id: 'status',
  header: words.columns.status,
  sortBy: ({ status }) => status ?? '',
  cell: ({ status }) => (status === null ? null : <StatusBadge status={status} />),
});

const amountColumn = <Row extends Amounted>(
  id: string,
  header: string,
  amountOf: (row: Row) => number,
  from?: 'sm' | 'md' | 'lg',
): Column<Row> => ({
  id,
  header,
  align: 'right',
  sortBy: amountOf,
  cell: (row) => <span className="whitespace-nowrap">{formatAmount(amountOf(row), row.currency)}</span>,
  ...(from === undefined ? {} : { from }),
});

const nameColumn = <Row,>(header: string, nameOf: (row: Row) => ReactNode): Column<Row> => ({
  id: 'name',
  header,
  cell: (row) => <div className="truncate">{nameOf(row)}</div>,
  width: nameWidth,
});

/** An ID of the billing system, for support. */
function RecordId({ children }: { readonly children: string | null }) {
  return <code className="font-mono text-xs text-ink-soft">{children ?? words.none}</code>;
}

const soft = (value: ReactNode) => (
  <span className="whitespace-nowrap text-ink-soft">{value ?? words.none}</span>
);
const dayOf = (at: string | null) => soft(at === null ? null : <Time at={at} format={formatDay} />);
/** "duplicate", "fraudulent", "card_declined". */
const reasonOf = (reason: string | null) => soft(reason?.replaceAll('_', ' '));

const invoices: readonly Column<BillingInvoice>[] = [
  nameColumn(words.columns.invoice, ({ number, id }) => (
    <span className="font-medium" title={id}>
      {number ?? words.noNumber}
    </span>
  )),
  statusColumn(),
  {
    id: 'period',
    header: words.columns.period,
    from: 'lg',
    cell: ({ period_start: from, period_end: to }) => soft(words.period(formatDay(from), formatDay(to))),
  },
  { id: 'due', header: words.columns.due, from: 'lg', cell: ({ due_at: at }) => dayOf(at) },
  { id: 'paid', header: words.columns.paid, from: 'lg', cell: ({ paid_at: at }) => dayOf(at) },
  amountColumn('remaining', words.columns.remaining, ({ amount_remaining: amount }) => amount, 'md'),
  amountColumn('total', words.columns.total, ({ total }) => total),
  { ...dayColumn(), from: 'sm' },
  {
    id: 'links',
    header: words.columns.links,
    quietHeader: true,
    align: 'right',
    cell: (invoice) => <InvoiceLinks invoice={invoice} />,
  },
];

function InvoiceLinks({ invoice }: { readonly invoice: BillingInvoice }) {
  const name = invoice.number ?? invoice.id;
  return (
    <div className="flex justify-end gap-1">
      <OutsideLink url={invoice.hosted_invoice_url} label={words.viewInvoice(name)}>
        <ExternalLink aria-hidden className="size-3.5" />
        <span className="max-sm:hidden">{words.view}</span>
      </OutsideLink>
      <OutsideLink url={invoice.invoice_pdf_url} label={words.pdfOf(name)}>
        <FileText aria-hidden className="size-3.5" />
        <span className="max-sm:hidden">{words.pdf}</span>
      </OutsideLink>
    </div>
  );
}

/** URLs come from the billing system; only https links are rendered. */
function OutsideLink({ url, label, children }: OutsideLinkProps) {
  if (url === null || !url.startsWith('https://')) return null;
  return (
    <Button asChild look="quiet" size="small">
      <a href={url} target="_blank" rel="noreferrer" aria-label={label}>
        {children}
      </a>
    </Button>
  );
}

interface OutsideLinkProps {
  readonly url: string | null;
  readonly label: string;
  readonly children: ReactNode;
}

const payments: readonly Column<BillingPayment>[] = [
  nameColumn(words.columns.payment, ({ id }) => <RecordId>{id}</RecordId>),
  statusColumn(),
  {
    id: 'failure',
    header: words.columns.failure,
    from: 'md',
    cell: ({ failure_code: code }) => reasonOf(code),
  },
  amountColumn('received', words.columns.received, ({ amount_received: amount }) => amount, 'sm'),
  amountColumn('amount', words.columns.amount, ({ amount }) => amount),
  { ...dayColumn(), from: 'sm' },
];

const refunds: readonly Column<BillingRefund>[] = [
  nameColumn(words.columns.refund, ({ id }) => <RecordId>{id}</RecordId>),
  statusColumn(),
  { id: 'reason', header: words.columns.reason, from: 'md', cell: ({ reason }) => reasonOf(reason) },
  {
    id: 'payment',
    header: words.columns.ofPayment,
    from: 'lg',
    cell: ({ payment_id: id }) => <RecordId>{id}</RecordId>,
  },
  amountColumn('amount', words.columns.amount, ({ amount }) => amount),
  { ...dayColumn(), from: 'sm' },
];

const disputes: readonly Column<BillingDispute>[] = [
  nameColumn(words.columns.dispute, ({ id }) => <RecordId>{id}</RecordId>),
  statusColumn(),
  { id: 'reason', header: words.columns.reason, from: 'md', cell: ({ reason }) => reasonOf(reason) },
  {
    id: 'evidence',
    header: words.columns.evidence,
    from: 'md',
    cell: ({ evidence_due_at: at }) => dayOf(at),
  },
  {
    id: 'payment',
    header: words.columns.ofPayment,
    from: 'lg',
    cell: ({ payment_id: id }) => <RecordId>{id}</RecordId>,
  },
  amountColumn('amount', words.columns.amount, ({ amount }) => amount),
  { ...dayColumn(), from: 'sm' },
];

const activities: readonly Column<BillingActivity>[] = [
  nameColumn(words.columns.activity, ({ type }) => (
    <span className="font-medium">{words.activities[type]}</span>
  )),
  { ...statusColumn(), from: 'sm' },
  {
    id: 'plan',
    header: words.columns.plan,
    cell: ({ plan }) => soft(plan === null ? null : <span className="capitalize">{plan}</span>),
  },
  {
    id: 'subscription',
    header: words.columns.subscription,
    from: 'lg',
    cell: ({ subscription_id: id }) => <RecordId>{id}</RecordId>,
  },
  dayColumn(),
];

type Columns = { readonly [List in keyof BillingHistory]: readonly Column<BillingHistory[List][number]>[] };

/** The columns of each list. Narrow windows keep the subject, amount and state. */
export const historyColumns: Columns = { invoices, payments, refunds, disputes, activities };
