import type { AuditEntry } from '@relay/contract';
import { text } from '../../text/index.ts';
import { fieldChanges } from '../../ui/field-changes.ts';
import type { LogColumn } from '../../ui/log-table.tsx';
import { Ago } from '../../ui/time.tsx';
import { actionWords, actorName, addressOf, kindOf, objectName } from './entry-words.ts';
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
      cell: (entry) => <span className="font-mono text-xs text-ink-faint">{changedFields(entry)}</span>,
      className: 'max-xl:hidden',
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
        <span className="text-ink-soft">
          <Ago at={at} />
        </span>
      ),
      className: 'w-36 text-right sm:w-40',
    },
  ];
}

const FIELDS_SHOWN = 3;

/** The names of the changed fields, to find a change without opening rows. */
function changedFields(entry: AuditEntry): string {
  if (kindOf(entry) !== 'update') return '';
  const fields = fieldChanges(entry.before, entry.after).map(({ field }) => field);
  const rest = fields.length - FIELDS_SHOWN;
  return [...fields.slice(0, FIELDS_SHOWN), ...(rest > 0 ? [`+${rest}`] : [])].join(', ');
}
