import { type ApiKey, ApiKeyUpdate } from '@relay/contract';
import { cacheKeys } from '../../api/queries.ts';
import { useChange } from '../../api/use-change.ts';
import { TextField } from '../../forms/fields.tsx';
import { submitting, useContractForm, useFieldErrors } from '../../forms/use-contract-form.ts';
import { text } from '../../text/index.ts';
import { Dialog, DialogBody, FormActions } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';

const words = text.keys;

interface RenameKeyDialogProps {
  readonly apiKey: ApiKey;
  readonly onClose: () => void;
}

export function RenameKeyDialog({ apiKey, onClose }: RenameKeyDialogProps) {
  const form = useContractForm<{ name: string }>(ApiKeyUpdate, { name: apiKey.name });
  const rename = useChange({
    run: (api, body: { name: string }) =>
      api.PATCH('/api/account/api-keys/{api_key_id}', {
        params: { path: { api_key_id: apiKey.id } },
        body,
      }),
    stale: [cacheKeys.apiKeys, cacheKeys.orgApiKeys],
    said: (_result, { name }) => words.renamed(name),
    onDone: onClose,
  });
  useFieldErrors(form, rename.error);
  return (
    <Dialog open onOpenChange={onClose} title={words.renameTitle}>
      <form className="contents" onSubmit={submitting(form, (values) => rename.mutate(values))}>
        <DialogBody>
          <TextField form={form} name="name" label={words.name} autoFocus />
          <ErrorNote error={rename.error} className="mt-4" />
        </DialogBody>
        <FormActions onCancel={onClose} busy={rename.isPending} disabled={!form.formState.isDirty}>
          {text.actions.save}
        </FormActions>
      </form>
    </Dialog>
  );
}
