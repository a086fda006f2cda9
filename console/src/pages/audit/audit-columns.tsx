import type { AuditEntry } from '@relay/contract';
import { formatClock, formatHover, formatShortDay } from '../../format/times.ts';
import { text } from '../../text/index.ts';
import type { LogColumn } from '../../ui/log-table.tsx';
import {
  actionWords,
  actorName,
  addressOf,
  changeLines,
  kindOf,
  objectName,
  rawChangeLines,
} from './entry-words.ts';
import { ObjectLink } from './object-link.tsx';

const words = text.audit;

/** Action, object, fields, actor, address and time. Narrow windows show fewer. */
export function auditColumns(nameOf: (id: string) => string | undefined): readonly LogColumn<AuditEntry>[] {
  return [
    {
      id: 'what',
      header: words.columns.what,
      cell: (entry) => (
        <>
          <span className="font-medium">{actionWords(entry.action, entry.target_type)}</span>
          <span className="ml-1.5 text-ink-faint md:hidden">{objectName(entry, nameOf)}</span>
          <span className="block truncate text-xs text-ink-faint sm:hidden">
            {[actorName(entry.actor), ...changeLines(entry, nameOf)].join(' · ')}
          </span>
        </>
      ),
      className: 'md:w-60',
    },
    {
      id: 'object',
      header: words.columns.object,
      cell: (entry) => <ObjectLink entry={entry} nameOf={nameOf} />,
      className: 'max-md:hidden',
    },
    {
      id: 'fields',
      header: words.columns.fields,
      cell: (entry) => (
        <span className="text-ink-soft" title={titleOf(entry)}>
          {changeLines(entry, nameOf).join(', ')}
        </span>
      ),
      className: 'w-[24%] max-xl:hidden',
    },
    {
      id: 'who',
      header: words.columns.who,
      cell: ({ actor }) => actorName(actor),
      className: 'w-28 max-sm:hidden lg:w-36',
    },
    {
      id: 'through',
      header: words.columns.through,
      cell: (entry) => (
        <span className="text-ink-soft">{addressOf(entry) ?? words.through[entry.actor.type]}</span>
      ),
      className: 'w-36 max-lg:hidden',
    },
    {
      id: 'when',
      header: words.columns.when,
      cell: ({ at }) => (
        <time dateTime={at} title={formatHover(at)} className="tabular-nums">
          <span className="mr-1.5 text-ink-faint max-sm:hidden">{formatShortDay(at)}</span>
          {formatClock(at)}
        </time>
      ),
      className: 'w-[138px] text-right max-sm:w-[80px]',
    },
  ];
}

/** The fields as the API has them. */
function titleOf(entry: AuditEntry): string | undefined {
  return kindOf(entry) === 'update' ? rawChangeLines(entry).join('\n') : undefined;
}
