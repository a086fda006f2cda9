import type { RequestDetail } from '@relay/contract';
import { Link } from '@tanstack/react-router';
import { Fragment, type ReactNode } from 'react';
import { formatCount, formatMoney } from '../../format/numbers.ts';
import { ResourceLink } from '../../parts/resource-link.tsx';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { classes } from '../../ui/class-names.ts';
import { Panel } from '../../ui/page.tsx';
import { type Receipt, type ReceiptPart, receiptOf } from './receipt.ts';
import { UsageNotes, UsageTable } from './usage-table.tsx';
import { nameIn, type RequestNames } from './use-request-names.ts';

const words = text.requests.detail.cost;

interface CostPanelProps {
  readonly detail: RequestDetail;
  readonly names: RequestNames;
}

/** What the request cost and why, as a receipt; without a breakdown, the estimate beside the actual usage. */
export function CostPanel({ detail, names }: CostPanelProps) {
  const receipt = receiptOf(detail);
  const { endpoint_id: endpointId } = detail;
  return (
    <Panel
      title={words.title}
      actions={
        receipt === null || endpointId === null || receipt.attempts.length > 1 ? null : (
          <span className="min-w-0 truncate text-xs text-ink-faint">
            {words.pricesOf}{' '}
            <ResourceLink kind="endpoint" id={endpointId} name={nameIn(names.endpoint, endpointId)} />
          </span>
        )
      }
    >
      <Paper>
        {receipt === null ? (
          <UsageTable detail={detail} />
        ) : (
          <ReceiptTable receipt={receipt} detail={detail} names={names} />
        )}
      </Paper>
      <div className="space-y-1.5 px-4 pb-2.5 text-xs text-ink-faint">
        {receipt === null ? <WithoutLines detail={detail} /> : null}
        <UsageNotes detail={detail} />
      </div>
    </Panel>
  );
}

/** Torn off below, as a receipt is. */
function Paper({ children }: { readonly children: ReactNode }) {
  return (
    <div className="mx-4 mt-2.5 mb-4 font-mono text-xs">
      <div className="border border-b-0 bg-panel px-4 py-3">{children}</div>
      <div
        aria-hidden
        className="h-1.5 bg-[linear-gradient(135deg,var(--panel)_4px,transparent_0),linear-gradient(225deg,var(--panel)_4px,transparent_0)] bg-[length:8px_6px]"
      />
    </div>
  );
}

const ROW = 'h-5 align-baseline';

/** One dashed line over all columns: the borders of cells would leave gaps. */
function Cut() {
  return (
    <tr aria-hidden>
      <td colSpan={3} className="py-2">
        <span className="block border-t border-dashed border-line-strong" />
      </td>
    </tr>
  );
}

interface ReceiptTableProps extends CostPanelProps {
  readonly receipt: Receipt;
}

function ReceiptTable({ receipt, detail, names }: ReceiptTableProps) {
  const { attempts, total, estimate } = receipt;
  const { estimated_input_tokens: input, estimated_output_tokens: output } = detail;
  return (
    <table className="w-full leading-5 tabular-nums">
      <caption className="sr-only">{words.caption}</caption>
      <tbody>
        {attempts.map((part) => (
          <Fragment key={part.attempt}>
            {attempts.length > 1 ? (
              <AttemptHead number={part.attempt} attempt={detail.attempts[part.attempt - 1]} names={names} />
            ) : null}
            <AttemptLines part={part} />
          </Fragment>
        ))}
        {attempts.length === 0 ? (
          <tr className={ROW}>
            <th scope="row" colSpan={3} className="text-left font-normal text-ink-soft">
              {words.free}
            </th>
          </tr>
        ) : null}
        <Cut />
        <tr className="text-[15px]">
          <th scope="row" className="text-left font-normal">
            {words.total}
          </th>
          <td colSpan={2} className="text-right whitespace-nowrap">
            {total}
          </td>
        </tr>
        {estimate === null ? null : (
          <>
            <Cut />
            <tr className={classes(ROW, 'text-ink-faint')}>
              <th scope="row" className="text-left font-normal">
                {words.reserved}
              </th>
              <td colSpan={2} className="text-right whitespace-nowrap">
                {estimate.reserved}
              </td>
            </tr>
            <tr className={classes(ROW, 'text-ink-faint')}>
              <th scope="row" className="text-left font-normal">
                {estimate.isOver ? words.over : words.released}
              </th>
              <td colSpan={2} className="text-right whitespace-nowrap">
                {estimate.isOver ? `+${estimate.rest}` : `−${estimate.rest}`}
              </td>
            </tr>
            {input === null || output === null ? null : (
              <tr className={classes(ROW, 'text-ink-faint')}>
                <th scope="row" className="text-left font-normal">
                  {words.estimatedTokens}
                </th>
                <td colSpan={2} className="text-right whitespace-nowrap">
                  {words.inputOutput(formatCount(input), formatCount(output))}
                </td>
              </tr>
            )}
          </>
        )}
      </tbody>
    </table>
  );
}

function AttemptLines({ part }: { readonly part: ReceiptPart }) {
  return part.lines.map(({ line: { kind, tokens, price_micros: price }, cost }) => (
    <tr key={kind} className={ROW}>
      <th scope="row" className="text-left font-normal">
        {tokens === null ? words.flat : words.tokens(formatCount(tokens), words.kinds[kind])}
      </th>
      <td className="text-right whitespace-nowrap text-ink-faint">
        {tokens === null ? null : words.times(formatMoney(price))}
      </td>
      <td className="pl-2.5 text-right whitespace-nowrap">{cost}</td>
    </tr>
  ));
}

interface AttemptHeadProps {
  readonly number: number;
  readonly attempt: RequestDetail['attempts'][number] | undefined;
  readonly names: RequestNames;
}

/** Above the lines of an attempt, where several used something. */
function AttemptHead({ number, attempt, names }: AttemptHeadProps) {
  const endpoint = attempt === undefined ? '' : nameIn(names.endpoint, attempt.endpoint_id);
  return (
    <tr className={classes(ROW, 'not-first:[&>th]:pt-2')}>
      <th scope="rowgroup" colSpan={3} className="text-left font-normal break-words text-ink-faint">
        {text.requests.detail.waterfall.attempt(number, endpoint)}
      </th>
    </tr>
  );
}

/** Why a known cost has no lines, and where its price is. */
function WithoutLines({ detail }: { readonly detail: RequestDetail }) {
  const { can } = useAccess();
  const { cost_micros: cost, endpoint_id: endpointId, usage_source: source } = detail;
  if (cost === null || endpointId === null || !can('listPricingPolicies')) return null;
  return (
    <p>
      {source === 'estimated' ? words.changedOrReserved : words.changed}{' '}
      {can('listEndpoints') ? (
        <Link to="/endpoints" search={{ open: endpointId }} className="link">
          {words.toPrice}
        </Link>
      ) : null}
    </p>
  );
}
