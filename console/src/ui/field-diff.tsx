import { ArrowRight } from 'lucide-react';
import type { ReactNode } from 'react';
import { text } from '../text/index.ts';
import { classes } from './class-names.ts';
import { type FieldChange, isSecretField, plainValue } from './field-changes.ts';

const words = text.diff;

/** The old value struck out, an arrow and the new value. Undefined means that there is no such value. */
export function ValueChange({ before, after }: ValueChangeProps) {
  return (
    <span className="inline-flex min-w-0 flex-wrap items-center gap-x-2 gap-y-0.5">
      {before === undefined ? null : <del className="min-w-0 break-words text-ink-faint">{before}</del>}
      {before === undefined || after === undefined ? null : (
        <ArrowRight aria-hidden className="size-3.5 shrink-0 text-ink-faint" />
      )}
      {after === undefined ? null : <ins className="min-w-0 break-words no-underline">{after}</ins>}
    </span>
  );
}

interface ValueChangeProps {
  readonly before: ReactNode | undefined;
  readonly after: ReactNode | undefined;
}

interface FieldDiffProps {
  readonly changes: readonly FieldChange[];
  /** A created object has no old values, a deleted one no new values. */
  readonly kind?: 'create' | 'update' | 'delete';
}

/** Changes field by field, with the field names of the API and the file, or with words and those as titles. */
export function FieldDiff({ changes, kind = 'update' }: FieldDiffProps) {
  return (
    <dl className="divide-y">
      {changes.map(({ field, label, before, after }) => (
        <div key={field} className="gap-x-4 py-1.5 text-[13px] sm:grid sm:grid-cols-[13rem_minmax(0,1fr)]">
          <dt
            className={classes(
              'leading-5 break-words text-ink-soft',
              label === undefined && 'font-mono text-xs',
            )}
            title={label === undefined ? undefined : field}
          >
            {label ?? field}
          </dt>
          <dd className="min-w-0 leading-5">
            {isSecretField(field) ? (
              <span className="text-ink-faint">{words.secret}</span>
            ) : (
              <ValueChange
                before={kind === 'create' || before === undefined ? undefined : shown(before, label)}
                after={kind === 'delete' ? undefined : shown(after, label)}
              />
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function shown(value: unknown, label: string | undefined): ReactNode {
  if (value === null || value === undefined || value === '')
    return <span className="inline-block text-ink-faint italic">{words.none}</span>;
  if (label !== undefined && typeof value === 'string') return <span className="break-words">{value}</span>;
  return <span className="font-mono text-xs break-all whitespace-pre-wrap">{plainValue(value)}</span>;
}
