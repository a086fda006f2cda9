import { PasswordProof, TotpConfirmation, type TotpSetup } from '@relay/contract';
import { lazy, Suspense, useState } from 'react';
import { take } from '../../api/client.ts';
import { useChange } from '../../api/use-change.ts';
import { TextField } from '../../forms/fields.tsx';
import { submitting, useContractForm, useFieldErrors } from '../../forms/use-contract-form.ts';
import { text } from '../../text/index.ts';
import { CopiedValue } from '../../ui/copied-value.tsx';
import { Dialog, DialogBody, FormActions } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { BackupCodesDialog } from './backup-codes-dialog.tsx';
import { ProofField } from './proof-field.tsx';

const words = text.settings.security;
const QrCode = lazy(async () => ({ default: (await import('./qr-code.tsx')).QrCode }));

/** Password, authenticator, then backup codes. Nothing changes until the code is confirmed. */
export function SetUpFactorDialog({ onClose }: { readonly onClose: () => void }) {
  const [setup, setSetup] = useState<TotpSetup | null>(null);
  const [confirmed, setConfirmed] = useState(false);
  if (setup !== null && confirmed) return <BackupCodesDialog codes={setup.backup_codes} onClose={onClose} />;
  return (
    <Dialog open onOpenChange={onClose} title={words.setUpTitle}>
      {setup === null ? (
        <ProofForm onClose={onClose} onProven={setSetup} />
      ) : (
        <ConfirmForm uri={setup.uri} onClose={onClose} onConfirmed={() => setConfirmed(true)} />
      )}
    </Dialog>
  );
}

interface ProofFormProps {
  readonly onClose: () => void;
  readonly onProven: (setup: TotpSetup) => void;
}

function ProofForm({ onClose, onProven }: ProofFormProps) {
  const form = useContractForm<PasswordProof>(PasswordProof, { password: '' });
  const start = useChange({
    run: (api, body: PasswordProof) => take(api.POST('/api/account/totp', { body })),
    stale: [],
    onDone: onProven,
  });
  useFieldErrors(form, start.error);
  return (
    <form className="contents" onSubmit={submitting(form, (values) => start.mutate(values))}>
      <DialogBody>
        <ProofField form={form} />
        <ErrorNote error={start.error} className="mt-4" />
      </DialogBody>
      <FormActions onCancel={onClose} busy={start.isPending}>
        {words.next}
      </FormActions>
    </form>
  );
}

interface ConfirmFormProps {
  readonly uri: string;
  readonly onClose: () => void;
  readonly onConfirmed: () => void;
}

function ConfirmForm({ uri, onClose, onConfirmed }: ConfirmFormProps) {
  const form = useContractForm<TotpConfirmation>(TotpConfirmation, { code: '' });
  const confirm = useChange({
    run: (api, body: TotpConfirmation) => api.POST('/api/account/totp/confirm', { body }),
    stale: [],
    onDone: onConfirmed,
  });
  useFieldErrors(form, confirm.error);
  return (
    <form className="contents" onSubmit={submitting(form, (values) => confirm.mutate(values))}>
      <DialogBody>
        <p className="mb-4 text-[13px] text-ink-soft">{words.scan}</p>
        <div className="flex flex-wrap items-start gap-5">
          <Suspense fallback={<Skeleton className="size-44 rounded-lg" />}>
            <QrCode text={uri} label={words.qrCode} />
          </Suspense>
          <div className="min-w-52 flex-1 space-y-5">
            <div>
              <p className="mb-1 text-[13px] font-medium">{words.secret}</p>
              <CopiedValue value={secretOf(uri)} label={words.copySecret} grouped />
            </div>
            <TextField
              form={form}
              name="code"
              label={words.code}
              hint={words.codeHint}
              inputMode="numeric"
              autoComplete="one-time-code"
              autoFocus
            />
          </div>
        </div>
        <ErrorNote error={confirm.error} className="mt-4" />
      </DialogBody>
      <FormActions onCancel={onClose} busy={confirm.isPending}>
        {words.confirm}
      </FormActions>
    </form>
  );
}

function secretOf(uri: string): string {
  return new URL(uri).searchParams.get('secret') ?? '';
}
