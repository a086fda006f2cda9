import {
  type AlertDestination,
  AlertDestinationCreate,
  AlertDestinationUpdate,
  type AlertDestinationCreate as NewDestination,
} from '@relay/contract';
import { take } from '../../api/client.ts';
import { cacheKeys } from '../../api/queries.ts';
import { useChange } from '../../api/use-change.ts';
import { TextField } from '../../forms/fields.tsx';
import { submitting, useContractForm, useFieldErrors } from '../../forms/use-contract-form.ts';
import { text } from '../../text/index.ts';
import { Choice } from '../../ui/choice.tsx';
import { Dialog, DialogBody, FormActions } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Field } from '../../ui/field.tsx';

const words = text.alerts;
const KINDS = ['webhook', 'mail'] as const;

type Values = Pick<NewDestination, 'name' | 'kind' | 'url' | 'address'>;

interface DestinationDialogProps {
  /** The one to edit; null for a new one. */
  readonly destination: AlertDestination | null;
  readonly onClose: () => void;
  /** Gets the secret that Relay made for a new webhook. */
  readonly onSecret?: (secret: string) => void;
}

export function DestinationDialog({ destination, onClose, onSecret }: DestinationDialogProps) {
  const { name = '', kind = 'webhook', url = null, address = null } = destination ?? {};
  const schema = destination === null ? AlertDestinationCreate : AlertDestinationUpdate;
  const form = useContractForm<Values>(schema, { name, kind, url, address });
  const save = useChange({
    run: (api, values: Values) => {
      const isWebhook = values.kind === 'webhook';
      const body = {
        name: values.name,
        url: isWebhook ? (values.url ?? null) : null,
        address: isWebhook ? null : (values.address ?? null),
      };
      if (destination === null)
        return take(api.POST('/api/relay/alert-destinations', { body: { ...body, kind: values.kind } }));
      const params = { path: { destination_id: destination.id } };
      return take(api.PUT('/api/relay/alert-destinations/{destination_id}', { params, body }));
    },
    stale: [cacheKeys.alertDestinations],
    said: (_made, values) => (destination === null ? words.created(values.name) : words.saved(values.name)),
    onDone(made) {
      onClose();
      if ('secret' in made && typeof made.secret === 'string') onSecret?.(made.secret);
    },
  });
  useFieldErrors(form, save.error);
  const chosen = form.watch('kind');
  return (
    <Dialog open onOpenChange={onClose} title={destination === null ? words.create : words.edit}>
      <form className="contents" onSubmit={submitting(form, (values) => save.mutate(values))}>
        <DialogBody>
          <div className="space-y-5">
            {destination === null ? (
              <Field label={words.form.kind}>
                {(control) => (
                  <Choice
                    {...control}
                    value={chosen}
                    options={KINDS.map((value) => ({ value, label: words.kinds[value] }))}
                    onChange={(next) => form.setValue('kind', next)}
                  />
                )}
              </Field>
            ) : null}
            <TextField form={form} name="name" label={words.form.name} />
            {chosen === 'webhook' ? (
              <TextField
                form={form}
                name="url"
                type="url"
                label={words.form.url}
                hint={words.form.urlHint}
                placeholder="https://alerts.example.com/relay"
              />
            ) : (
              <TextField form={form} name="address" type="email" label={words.form.address} />
            )}
            <ErrorNote error={save.error} />
          </div>
        </DialogBody>
        <FormActions onCancel={onClose} busy={save.isPending}>
          {destination === null ? words.create : text.actions.save}
        </FormActions>
      </form>
    </Dialog>
  );
}
