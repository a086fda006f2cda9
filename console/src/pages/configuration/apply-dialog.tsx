import type { ConfigPlan, ConfigPlanRequest } from '@relay/contract';
import { useState } from 'react';
import { take } from '../../api/client.ts';
import { useChange } from '../../api/use-change.ts';
import { DeletedLimits } from '../../parts/deleted-limits.tsx';
import { NameChanges } from '../../parts/name-changes.tsx';
import { text } from '../../text/index.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Field, Input } from '../../ui/field.tsx';

const words = text.configuration.apply;

/** Applying can change every cached resource. */
const EVERYTHING = [[]];

interface ApplyDialogProps {
  readonly request: ConfigPlanRequest;
  readonly plan: ConfigPlan;
  readonly onClose: () => void;
  readonly onApplied: () => void;
}

/** Confirms and applies exactly the plan. The server rejects it if the configuration has changed since. */
export function ApplyDialog({ request, plan, onClose, onApplied }: ApplyDialogProps) {
  const [secrets, setSecrets] = useState<Readonly<Record<string, string>>>({});
  const needed = plan.required_secrets;
  const apply = useChange({
    run: (api) => {
      const given = Object.keys(secrets).length === 0 ? {} : { secrets };
      const said = plan.name_changes.length === 0 ? {} : { takes_over: true };
      const body = { ...request, ...given, ...said, plan_hash: plan.plan_hash };
      return take(api.POST('/api/relay/config/apply', { body }));
    },
    stale: EVERYTHING,
    said: ({ changes }) => (changes.length === 0 ? words.doneNothing : words.done(changes.length)),
    onDone: onApplied,
  });
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={words.title}
      action={words.action}
      tone={plan.deletes > 0 ? 'danger' : 'solid'}
      blocked={needed.some((ref) => (secrets[ref] ?? '') === '')}
      busy={apply.isPending}
      error={apply.error}
      onConfirm={() => apply.mutate(undefined)}
    >
      {plan.deletes > 0 ? <p className="font-medium text-bad">{words.deletes(plan.deletes)}</p> : null}
      <DeletedLimits limits={plan.deleted_limits} />
      <NameChanges changes={plan.name_changes} />
      <p>{words.body}</p>
      <p>{words.owns}</p>
      {needed.length === 0 ? null : (
        <fieldset className="space-y-3 border-t pt-3">
          <legend className="sr-only">{words.secrets}</legend>
          <p className="text-[13px]">
            <span className="font-medium text-ink">{words.secrets}.</span> {words.secretsHint}
          </p>
          {needed.map((ref) => (
            <Field key={ref} label={ref}>
              {(control) => (
                <Input
                  {...control}
                  type="password"
                  autoComplete="off"
                  value={secrets[ref] ?? ''}
                  onChange={(event) => setSecrets((before) => ({ ...before, [ref]: event.target.value }))}
                />
              )}
            </Field>
          ))}
        </fieldset>
      )}
    </ConfirmDialog>
  );
}
