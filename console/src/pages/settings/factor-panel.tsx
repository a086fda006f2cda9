import { PasswordProof } from '@relay/contract';
import { useState } from 'react';
import { cacheKeys } from '../../api/queries.ts';
import { useChange } from '../../api/use-change.ts';
import { submitting, useContractForm, useFieldErrors } from '../../forms/use-contract-form.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogBody, FormActions } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Signal } from '../../ui/signal.tsx';
import { ProofField } from './proof-field.tsx';
import { SetUpFactorDialog } from './set-up-factor-dialog.tsx';
import { SettingPanel } from './setting-panel.tsx';

const words = text.settings.security;

export function FactorPanel({ isOn }: { readonly isOn: boolean }) {
  const [asked, setAsked] = useState<'set-up' | 'remove' | null>(null);
  const close = () => setAsked(null);
  return (
    <SettingPanel
      title={words.factor}
      badge={<Signal tone={isOn ? 'good' : 'neutral'}>{isOn ? words.factorOn : words.factorOff}</Signal>}
      actions={
        <Button size="small" onClick={() => setAsked(isOn ? 'remove' : 'set-up')}>
          {isOn ? words.remove : words.setUp}
        </Button>
      }
    >
      <p className="text-[13px] text-ink-soft">{isOn ? words.factorOnHint : words.factorOffHint}</p>
      {asked === 'set-up' ? <SetUpFactorDialog onClose={close} /> : null}
      {asked === 'remove' ? <RemoveFactorDialog onClose={close} /> : null}
    </SettingPanel>
  );
}

function RemoveFactorDialog({ onClose }: { readonly onClose: () => void }) {
  const form = useContractForm<PasswordProof>(PasswordProof, { password: '' });
  const remove = useChange({
    run: (api, body: PasswordProof) => api.POST('/api/account/totp/remove', { body }),
    stale: [cacheKeys.session],
    said: () => words.factorIsOff,
    onDone: onClose,
  });
  useFieldErrors(form, remove.error);
  return (
    <Dialog open onOpenChange={onClose} title={words.removeTitle}>
      <form className="contents" onSubmit={submitting(form, (values) => remove.mutate(values))}>
        <DialogBody>
          <p className="mb-4 text-ink-soft">{words.removeBody}</p>
          <ProofField form={form} />
          <ErrorNote error={remove.error} className="mt-4" />
        </DialogBody>
        <FormActions onCancel={onClose} busy={remove.isPending} look="danger">
          {words.remove}
        </FormActions>
      </form>
    </Dialog>
  );
}
