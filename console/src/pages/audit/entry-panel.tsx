import type { AuditEntry } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { History } from 'lucide-react';
import type { ReactNode } from 'react';
import { auditEntryQuery } from '../../api/control-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { formatExactTime } from '../../format/times.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { CopiedValue } from '../../ui/copied-value.tsx';
import { DetailList, Section } from '../../ui/detail-list.tsx';
import { Dialog, DialogBody } from '../../ui/dialog.tsx';
import { FieldDiff } from '../../ui/field-diff.tsx';
import { ErrorCard, Skeleton } from '../../ui/states.tsx';
import { Time } from '../../ui/time.tsx';
import { actionWords, actorName, addressOf, changesOf, kindOf, objectName } from './entry-words.ts';
import { ObjectLink } from './object-link.tsx';

const words = text.audit.entry;

interface EntryPanelProps {
  readonly id: string;
  /** The entry if the list has loaded it. */
  readonly entry: AuditEntry | undefined;
  readonly nameOf: (id: string) => string | undefined;
  readonly onClose: () => void;
  readonly onHistory: (type: string, targetId: string) => void;
}

/** One entry in full: its field changes and what is known about the actor. */
export function EntryPanel({ id, entry: listed, nameOf, onClose, onHistory }: EntryPanelProps) {
  const found = useQuery({ ...auditEntryQuery(useApi(), id), enabled: listed === undefined });
  const entry = listed ?? found.data;
  return (
    <Dialog
      open
      wide
      shape="panel"
      onOpenChange={onClose}
      title={entry === undefined || entry === null ? words.loading : titleOf(entry, nameOf)}
      description={
        entry === undefined || entry === null
          ? undefined
          : `${actorName(entry.actor)} · ${formatExactTime(entry.at)}`
      }
    >
      <DialogBody>
        {entry === null ? (
          <p className="text-ink-soft">{words.gone}</p>
        ) : entry !== undefined ? (
          <Entry entry={entry} nameOf={nameOf} onHistory={onHistory} />
        ) : found.error === null ? (
          <div className="space-y-4">
            <Skeleton className="w-40" />
            <Skeleton className="w-full" />
            <Skeleton className="w-full" />
          </div>
        ) : (
          <ErrorCard error={found.error} onRetry={() => void found.refetch()} />
        )}
      </DialogBody>
    </Dialog>
  );
}

function titleOf(entry: AuditEntry, nameOf: EntryPanelProps['nameOf']): string {
  const name = objectName(entry, nameOf);
  const action = actionWords(entry.action, entry.target_type);
  return name === null ? action : `${action}: ${name}`;
}

function Entry({ entry, nameOf, onHistory }: Omit<EntryPanelProps, 'id' | 'onClose' | 'entry'> & EntryOf) {
  const { target_id: targetId, target_type: targetType } = entry;
  const kind = kindOf(entry);
  const changes = changesOf(entry, nameOf);
  const title = { create: words.created, update: words.changed, delete: words.deleted }[kind];
  return (
    <>
      <Section title={title}>
        {changes.length === 0 ? (
          <p className="text-[13px] text-ink-soft">{words.nothing}</p>
        ) : (
          <FieldDiff changes={changes} kind={kind} />
        )}
      </Section>
      <Section
        title={words.about}
        actions={
          targetId === null ? undefined : (
            <Button size="small" look="quiet" onClick={() => onHistory(targetType, targetId)}>
              <History aria-hidden className="size-4" />
              {words.history}
            </Button>
          )
        }
      >
        <DetailList rows={detailsOf(entry, nameOf)} />
      </Section>
    </>
  );
}

interface EntryOf {
  readonly entry: AuditEntry;
}

function detailsOf(entry: AuditEntry, nameOf: EntryPanelProps['nameOf']): (readonly [string, ReactNode])[] {
  const { actor, target_id: targetId, request_id: requestId } = entry;
  const address = addressOf(entry);
  const hasName = objectName(entry, nameOf) !== null;
  const rows: (readonly [string, ReactNode] | null)[] = [
    [words.who, actorName(actor)],
    [words.through, text.audit.through[actor.type]],
    address === undefined ? null : [words.from, <Code key="from">{address}</Code>],
    [words.when, <Time key="when" at={entry.at} format={formatExactTime} />],
    hasName ? [words.object, <ObjectLink key="object" entry={entry} nameOf={nameOf} />] : null,
    targetId === null
      ? null
      : [words.objectId, <CopiedValue key="id" value={targetId} label={words.copyObject} />],
    [words.action, <Code key="action">{entry.action}</Code>],
    requestId === null
      ? null
      : [words.request, <CopiedValue key="request" value={requestId} label={words.copyRequest} />],
  ];
  return rows.filter((row) => row !== null);
}

function Code({ children }: { readonly children: string }) {
  return <code className="font-mono text-xs">{children}</code>;
}
