import type { AuditEntry } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useStarted } from '../../address/started.ts';
import { lastChangeQuery } from '../../api/limit-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { formatSpan } from '../../format/spans.ts';
import { formatDateTime, formatMoment } from '../../format/times.ts';
import { FillBar } from '../../parts/limit-bar.tsx';
import { amountOf } from '../../parts/limit-metrics.ts';
import { isCalendar } from '../../parts/limit-window.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { rangeAround } from '../../time-range/time-range.ts';
import { Button } from '../../ui/button.tsx';
import { classes } from '../../ui/class-names.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { DetailList, Figures, Section } from '../../ui/detail-list.tsx';
import { Dialog, DialogBody } from '../../ui/dialog.tsx';
import { Ago } from '../../ui/time.tsx';
import { useNow } from '../../ui/use-now.ts';
import { BurnDownSection } from './burn-down-section.tsx';
import { resetOf } from './countdown.tsx';
import { FileBadge, HardBadge, StateBadge } from './limit-columns.tsx';
import { EditLimitDialog, LimitMenu } from './limit-menu.tsx';
import type { LimitRow } from './limit-row.ts';
import { effectOf, sentenceOf } from './limit-words.ts';
import type { Outlook, Standing } from './outlook.ts';
import { RefusalsSection } from './refusals-section.tsx';
import { ScopeLink, SubjectLink } from './scope-link.tsx';
import type { LimitPlaces } from './use-limit-places.ts';
import { useWritableKinds } from './use-limit-rows.ts';

const words = text.limits;
const TICK_MS = 1_000;

interface LimitPanelProps {
  readonly standing: Standing;
  readonly places: LimitPlaces;
  readonly onClose: () => void;
}

/** The details of one limit, beside the list. */
export function LimitPanel({ standing: { row, outlook }, places, onClose }: LimitPanelProps) {
  const nowMs = useNow(TICK_MS);
  const started = useStarted();
  const [isEditing, setIsEditing] = useState(started === 'edit');
  const mayWrite = useWritableKinds().includes(row.kind) && !row.fromFile && !row.ofEndpoint;
  return (
    <Dialog
      open
      wide
      shape="panel"
      onOpenChange={onClose}
      title={sentenceOf(row, places.names)}
      description={
        <span className="mt-1 flex flex-wrap gap-1.5">
          <StateBadge outlook={outlook} />
          {row.enforcement === 'hard' ? <HardBadge /> : null}
          {row.fromFile ? <FileBadge /> : null}
        </span>
      }
    >
      <DialogBody>
        <Section
          title={words.panel.now}
          actions={
            row.ofEndpoint ? (
              <Button asChild size="small">
                <Link to="/endpoints" search={{ open: row.scopeId ?? '' }}>
                  {words.panel.editOnEndpoint}
                </Link>
              </Button>
            ) : mayWrite ? (
              <span className="flex items-center gap-2">
                <Button size="small" onClick={() => setIsEditing(true)}>
                  {outlook.state === 'exhausted' ? words.raise : words.edit}
                </Button>
                <LimitMenu row={row} places={places} onDeleted={onClose} />
              </span>
            ) : undefined
          }
        >
          <UsageFigures row={row} />
          <p className={classes('mt-3 text-[13px]', TONES[outlook.state])}>
            {outlookOf(row, outlook, nowMs)}
          </p>
          <div className="mt-4">
            {/* To the minute: a line that moves each second cannot be read. */}
            <BurnDownSection row={row} nowMs={Math.floor(nowMs / 60_000) * 60_000} />
          </div>
        </Section>
        {row.enabled ? <RefusalsSection row={row} /> : null}
        <Rule row={row} places={places} nowMs={nowMs} />
      </DialogBody>
      {isEditing && mayWrite ? (
        <EditLimitDialog row={row} places={places} onClose={() => setIsEditing(false)} />
      ) : null}
    </Dialog>
  );
}

const TONES = {
  exhausted: 'font-medium text-bad',
  full: 'font-medium text-wait-ink',
  close: 'font-medium text-warn',
  enabled: 'text-ink-soft',
  disabled: 'text-ink-soft',
} as const;

function UsageFigures({ row: { usage, metric } }: { readonly row: LimitRow }) {
  if (usage === null) return null;
  return (
    <div className="space-y-3">
      <Figures
        of={[
          [words.panel.used, amountOf(metric, usage.used)],
          [words.panel.reserved, amountOf(metric, usage.reserved)],
          [words.panel.left, amountOf(metric, usage.remaining)],
        ]}
      />
      <FillBar usage={usage} thick />
    </div>
  );
}

/** The server's forecast in words. */
function outlookOf(row: LimitRow, { state, runsOutMs }: Outlook, nowMs: number): string {
  const { usage, period, metric } = row;
  if (state === 'disabled') return words.outlook.disabled;
  if (row.limit === 0) return words.outlook.exhaustedForever;
  const endMs = resetOf(row, nowMs);
  if (state === 'exhausted') {
    if (endMs === null) return words.outlook.exhaustedNow;
    return words.outlook.exhausted(formatMoment(endMs, nowMs), formatSpan(endMs - nowMs));
  }
  if (usage === null) return '';
  if (state === 'full') return period === 'none' ? words.outlook.full : words.outlook.fullSliding;
  const left = amountOf(metric, usage.remaining);
  if (period === 'none') return words.outlook.concurrency(usage.remaining);
  if (!isCalendar(period)) {
    if (usage.reserved === 0 || endMs === null) return words.outlook.sliding(left);
    const ahead = words.outlook.reservedAhead(amountOf(metric, usage.reserved), formatSpan(endMs - nowMs));
    return `${words.outlook.sliding(left)} ${ahead}`;
  }
  if (usage.used + usage.reserved === 0) return words.outlook.unused;
  if (usage.rate_per_hour === null) return words.outlook.early;
  if (runsOutMs === null || endMs === null) return words.outlook.lasts;
  return words.outlook.runsOut(formatMoment(runsOutMs, nowMs), formatSpan(endMs - runsOutMs));
}

function Rule({ row, places, nowMs }: Pick<LimitPanelProps, 'places'> & RuleProps) {
  const endMs = row.enabled ? resetOf(row, nowMs) : null;
  const subject =
    row.kind === 'resource'
      ? []
      : [[words.panel.owner, <SubjectLink key="s" {...{ row, places }} />] as const];
  const resets =
    endMs === null || endMs <= nowMs
      ? []
      : [
          [
            words.panel.resets,
            `${formatDateTime(new Date(endMs).toISOString())}, ${words.resetsIn(formatSpan(endMs - nowMs))}`,
          ] as const,
        ];
  const changed = useLastChange(row);
  const changes = changed === null ? [] : [[words.panel.changed, <Changed key="c" of={changed} />] as const];
  const id = row.ofEndpoint
    ? []
    : [
        [
          words.panel.id,
          <span key="id" className="-my-0.5 flex items-center gap-1">
            <code className="min-w-0 truncate font-mono text-xs">{row.id}</code>
            <CopyButton value={row.id} label={words.panel.copyId} />
          </span>,
        ] as const,
      ];
  return (
    <Section title={words.panel.rule}>
      <DetailList
        rows={[
          [words.panel.says, effectOf(row, places.names)],
          [words.panel.kind, row.ofEndpoint ? words.onEndpointHint : words.kindOf[row.kind]],
          ...subject,
          [words.panel.appliesTo, <ScopeLink key="scope" row={row} places={places} />],
          ...resets,
          ...changes,
          ...id,
        ]}
      />
    </Section>
  );
}

/** The newest entry of the audit log about the limit; null without one, or without access. */
function useLastChange({ id, ofEndpoint }: LimitRow): AuditEntry | null {
  const isKnown = useAccess().can('listAuditLog') && !ofEndpoint;
  const { data } = useQuery({ ...lastChangeQuery(useApi(), id), enabled: isKnown });
  return data ?? null;
}

function Changed({ of: { at, actor, target_id: target } }: { readonly of: AuditEntry }) {
  const range = rangeAround(at, {}, Date.now());
  return (
    <>
      <Ago at={at} />
      {actor.name === null ? null : words.panel.changedBy(actor.name)}
      {' · '}
      <Link
        to="/audit"
        search={{ ...range, ...(target !== null && { target }) }}
        className="underline decoration-line-strong underline-offset-2 hover:decoration-current"
      >
        {words.panel.viewChanges}
      </Link>
    </>
  );
}

interface RuleProps {
  readonly row: LimitRow;
  readonly nowMs: number;
}
