import { type Guardrail, GuardrailCreate, type GuardrailPreset } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { ArrowLeft, Plug } from 'lucide-react';
import { useState } from 'react';
import { take } from '../../api/client.ts';
import { guardrailPresetsQuery } from '../../api/guardrail-queries.ts';
import { cacheKeys } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useChange } from '../../api/use-change.ts';
import { submitting, useContractForm, useFieldErrors } from '../../forms/use-contract-form.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions, DialogBody } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { ErrorCard, Skeleton } from '../../ui/states.tsx';
import { AddressFields, AdvancedFields, BehaviourFields } from './guardrail-fields.tsx';
import { hostOf } from './guardrail-words.ts';
import { SecretField } from './secret-field.tsx';
import { useJsonTexts } from './use-json-texts.ts';

const words = text.guardrails.form;
/** The preset for any other service. */
const BLANK_SLUG = 'custom-http';

interface CreateGuardrailDialogProps {
  readonly onClose: () => void;
  readonly onCreated: (guardrail: Guardrail) => void;
}

/** Two steps: choose a preset, then complete its form. */
export function CreateGuardrailDialog({ onClose, onCreated }: CreateGuardrailDialogProps) {
  const [preset, setPreset] = useState<GuardrailPreset | null>(null);
  const presets = useQuery(guardrailPresetsQuery(useApi()));
  return (
    <Dialog
      open
      wide
      onOpenChange={onClose}
      title={preset === null ? words.chooseTitle : words.createTitle}
      description={preset === null ? words.chooseDescription : undefined}
    >
      {preset !== null ? (
        <CreateForm preset={preset} onBack={() => setPreset(null)} onCreated={onCreated} />
      ) : (
        <DialogBody>
          {presets.error !== null && presets.data === undefined ? (
            <ErrorCard error={presets.error} onRetry={() => void presets.refetch()} />
          ) : (
            <PresetList presets={presets.data} onChoose={setPreset} />
          )}
        </DialogBody>
      )}
    </Dialog>
  );
}

interface PresetListProps {
  readonly presets: readonly GuardrailPreset[] | undefined;
  readonly onChoose: (preset: GuardrailPreset) => void;
}

function PresetList({ presets, onChoose }: PresetListProps) {
  if (presets === undefined) return <Skeleton className="h-64 w-full" />;
  const services = presets.filter(({ slug }) => slug !== BLANK_SLUG);
  const blank = presets.find(({ slug }) => slug === BLANK_SLUG);
  return (
    <ul className="grid gap-2 sm:grid-cols-2">
      {services.map((preset) => (
        <li key={preset.slug}>
          <button
            type="button"
            onClick={() => onChoose(preset)}
            className="flex h-full w-full flex-col rounded-lg border px-3.5 py-3 text-left hover:border-line-strong hover:bg-hover"
          >
            <span className="text-[13px] font-medium">{preset.name}</span>
            <span className="mt-1 text-xs text-ink-soft">{preset.description}</span>
            <span className="mt-auto pt-2 font-mono text-[11px] text-ink-faint">
              {hostOf(preset.base_url)}
            </span>
          </button>
        </li>
      ))}
      {blank === undefined ? null : (
        <li>
          <button
            type="button"
            onClick={() => onChoose({ ...blank, name: '', base_url: '' })}
            className="flex h-full w-full items-start gap-3 rounded-lg border border-dashed border-line-strong px-3.5 py-3 text-left hover:bg-hover"
          >
            <Plug aria-hidden className="mt-0.5 size-4 shrink-0 text-ink-faint" />
            <span className="min-w-0">
              <span className="block text-[13px] font-medium">{words.blank}</span>
              <span className="mt-1 block text-xs text-ink-soft">{blank.description}</span>
            </span>
          </button>
        </li>
      )}
    </ul>
  );
}

interface CreateFormProps {
  readonly preset: GuardrailPreset;
  readonly onBack: () => void;
  readonly onCreated: (guardrail: Guardrail) => void;
}

function CreateForm({ preset, onBack, onCreated }: CreateFormProps) {
  const [secret, setSecret] = useState('');
  const texts = useJsonTexts({ request_template: null, response_rules: null });
  const form = useContractForm<GuardrailCreate>(GuardrailCreate, {
    name: preset.name,
    preset_slug: preset.slug,
    base_url: preset.base_url,
    http_method: preset.http_method,
    auth_mode: preset.auth_mode,
    secret_header_name: preset.secret_header_name,
    pre_dispatch_enabled: true,
    post_response_enabled: false,
    failure_mode: 'fail_closed',
    timeout_ms: 5_000,
    priority: 100,
    max_request_bytes: 1_048_576,
    max_response_bytes: 1_048_576,
  });
  const create = useChange({
    run: (api, body: GuardrailCreate) => take(api.POST('/api/relay/guardrails', { body })),
    stale: [cacheKeys.guardrails],
    said: ({ name }) => text.guardrails.created(name),
    onDone: onCreated,
  });
  useFieldErrors(form, create.error);
  const takesSecret = form.watch('auth_mode') !== 'none';
  const submit = (values: GuardrailCreate) => {
    const own = texts.read();
    if (own === null) return;
    const withSecret = takesSecret && secret !== '' ? { secret } : {};
    create.mutate({ ...values, ...own, ...withSecret });
  };
  return (
    <form className="contents" onSubmit={submitting(form, submit)}>
      <DialogBody>
        <div className="space-y-5">
          <AddressFields form={form} />
          {takesSecret ? <SecretField value={secret} onChange={setSecret} hint={words.secretHint} /> : null}
          <BehaviourFields form={form} />
          <AdvancedFields form={form} texts={texts} preset={preset} />
          <ErrorNote error={create.error} />
        </div>
      </DialogBody>
      <DialogActions>
        <Button look="quiet" className="mr-auto" onClick={onBack}>
          <ArrowLeft aria-hidden className="size-4" />
          {words.back}
        </Button>
        <Button type="submit" look="solid" busy={create.isPending}>
          {text.guardrails.create}
        </Button>
      </DialogActions>
    </form>
  );
}
