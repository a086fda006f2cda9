import { useState } from 'react';
import { useChange } from '../../api/use-change.ts';
import { submitting, useContractForm, useFieldErrors } from '../../forms/use-contract-form.ts';
import { WhatIfPanel } from '../../parts/what-if-panel.tsx';
import { text } from '../../text/index.ts';
import { Choice } from '../../ui/choice.tsx';
import { Dialog, DialogBody, FormActions } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Field } from '../../ui/field.tsx';
import { AlertFields } from './alert-fields.tsx';
import {
  AmountField,
  EnforcementField,
  MetricFields,
  ScopeFields,
  SubjectField,
  UnpricedField,
} from './limit-fields.tsx';
import { freshValues, type LimitValues, limitKinds, staleLimits, valuesOf } from './limit-kinds.ts';
import type { LimitKind, LimitRow } from './limit-row.ts';
import { effectOf, type LimitNames, sentenceOf } from './limit-words.ts';
import type { LimitPlaces } from './use-limit-places.ts';
import { type DraftLimit, useReached } from './use-reached.ts';

const words = text.limits.form;

interface LimitDialogProps {
  /** The kinds to choose from. */
  readonly kinds: readonly LimitKind[];
  readonly places: LimitPlaces;
  /** The one to edit; null for a new one. */
  readonly row: LimitRow | null;
  /** The owner of a new limit, if it is known. */
  readonly subjectId?: string;
  readonly onClose: () => void;
}

export function LimitDialog({ kinds, ...shared }: LimitDialogProps) {
  const { row, onClose } = shared;
  const [kind, setKind] = useState<LimitKind>(row?.kind ?? kinds[0] ?? 'resource');
  const chooser =
    row === null ? (
      <Field label={words.kind} hint={words.kindHints[kind]}>
        {(control) => (
          <Choice
            {...control}
            value={kind}
            options={kinds.map((value) => ({ value, label: text.limits.kindOf[value] }))}
            onChange={setKind}
          />
        )}
      </Field>
    ) : null;
  return (
    <Dialog open onOpenChange={onClose} title={row === null ? words.createTitle : words.editTitle}>
      <LimitForm key={kind} kind={kind} chooser={chooser} {...shared} />
    </Dialog>
  );
}

interface LimitFormProps extends Omit<LimitDialogProps, 'kinds'> {
  readonly kind: LimitKind;
  readonly chooser: React.ReactNode;
}

function LimitForm({ kind, chooser, places, row, subjectId, onClose }: LimitFormProps) {
  const { schema, subject, fixed, save: write } = limitKinds[kind];
  const form = useContractForm<LimitValues>(
    schema,
    row === null ? freshValues(kind, subjectId) : valuesOf(row),
  );
  const save = useChange({
    run: (api, values: LimitValues) => write(api, row?.id ?? null, values),
    stale: staleLimits,
    said: () => (row === null ? text.limits.created : text.limits.saved),
    onDone: onClose,
  });
  useFieldErrors(form, save.error);
  const values = form.watch();
  const draft = draftOf(kind, values);
  const reached = useReached({ row, draft });
  const shared = { form, kind, places };
  return (
    <form className="contents" onSubmit={submitting(form, (values) => save.mutate(values))}>
      <DialogBody>
        <div className="space-y-5">
          {chooser}
          {row === null || subject === null ? null : (
            <p className="font-medium">{sentenceOf(row, places.names)}</p>
          )}
          {subject !== null && row === null ? <SubjectField {...shared} subject={subject} /> : null}
          {fixed && row !== null ? (
            <p className="text-[13px] text-ink-soft">{words.fixed}</p>
          ) : (
            <>
              <ScopeFields {...shared} />
              <MetricFields {...shared} />
            </>
          )}
          <AmountField
            key={String(form.watch('metric'))}
            {...shared}
            autoFocus={row?.metric === form.watch('metric')}
          />
          {reached === null ? null : (
            <p role="status" className="-mt-3 text-[13px] text-ink-soft">
              {reached}
            </p>
          )}
          <EnforcementField {...shared} />
          <UnpricedField {...shared} />
          <AlertFields {...shared} />
          <Preview draft={draft} names={places.names} />
          {row !== null && isSameEdit(kind, row, values) ? null : (
            <WhatIfPanel
              edit={draft === null ? null : limitKinds[kind].edit(row?.id ?? null, values)}
              note={reached}
            />
          )}
          <ErrorNote error={save.error} />
        </div>
      </DialogBody>
      <FormActions onCancel={onClose} busy={save.isPending}>
        {row === null ? text.limits.create : text.actions.save}
      </FormActions>
    </form>
  );
}

/** The limit in the form; null while it lacks something. */
function draftOf(kind: LimitKind, values: LimitValues): DraftLimit | null {
  const { subject, scope: scopeField, scopeId: idField } = limitKinds[kind];
  const { metric, period, limit_value: limit } = values;
  const scope = values[scopeField] ?? 'global';
  const scopeId = values[idField] ?? null;
  const subjectId = subject === null ? null : (values[subject] ?? '');
  if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 0 || subjectId === '') return null;
  if (scope !== 'global' && scopeId === null) return null;
  return { kind, subjectId, scope, scopeId, metric, period, limit };
}

/** Whether a save would change nothing. */
function isSameEdit(kind: LimitKind, row: LimitRow, values: LimitValues): boolean {
  const { edit } = limitKinds[kind];
  return JSON.stringify(edit(row.id, values)) === JSON.stringify(edit(row.id, valuesOf(row)));
}

/** The effect of the limit, before it is saved. */
function Preview({ draft, names }: { readonly draft: DraftLimit | null; readonly names: LimitNames }) {
  return (
    <div className="rounded-lg bg-sunken px-3.5 py-2.5">
      <p className="text-xs text-ink-faint">{words.preview}</p>
      <p aria-live="polite" className="mt-0.5 text-[13px]">
        {draft === null ? words.previewEmpty : effectOf(draft, names)}
      </p>
    </div>
  );
}
