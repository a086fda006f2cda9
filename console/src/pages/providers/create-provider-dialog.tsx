import { type Provider, ProviderCreate, type ProviderPreset } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { ArrowLeft, HardDrive, Plug } from 'lucide-react';
import { useState } from 'react';
import { take } from '../../api/client.ts';
import { cacheKeys, providerPresetsQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useChange } from '../../api/use-change.ts';
import { TextField } from '../../forms/fields.tsx';
import { submitting, useContractForm, useFieldErrors } from '../../forms/use-contract-form.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions, DialogBody } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { ErrorCard, Skeleton } from '../../ui/states.tsx';
import { ConnectionFields } from './connection-fields.tsx';
import { SecretField } from './secret-field.tsx';

const words = text.providers;
/** The preset for any other provider. */
const BLANK_SLUG = 'openai-compatible';

interface CreateProviderDialogProps {
  readonly onClose: () => void;
  readonly onCreated: (provider: Provider) => void;
}

/** Two steps: choose a preset, then complete its form. */
export function CreateProviderDialog({ onClose, onCreated }: CreateProviderDialogProps) {
  const [preset, setPreset] = useState<ProviderPreset | null>(null);
  const presets = useQuery(providerPresetsQuery(useApi()));
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
  readonly presets: readonly ProviderPreset[] | undefined;
  readonly onChoose: (preset: ProviderPreset) => void;
}

function PresetList({ presets, onChoose }: PresetListProps) {
  if (presets === undefined) return <Skeleton className="h-64 w-full" />;
  const blank = presets.find(({ slug }) => slug === BLANK_SLUG);
  return (
    <ul className="grid grid-cols-2 gap-2 sm:grid-cols-3">
      {presets.map((preset) =>
        preset === blank ? null : (
          <li key={preset.slug}>
            <PresetButton preset={preset} onChoose={onChoose} />
          </li>
        ),
      )}
      {blank === undefined ? null : (
        <li className="col-span-full">
          <button
            type="button"
            onClick={() => onChoose({ ...blank, name: '', base_url: '' })}
            className="flex w-full items-center gap-3 rounded-lg border border-dashed border-line-strong px-3 py-2.5 text-left hover:bg-hover"
          >
            <Plug aria-hidden className="size-4 text-ink-faint" />
            <span>
              <span className="block text-[13px] font-medium">{words.custom}</span>
              <span className="block text-xs text-ink-faint">{words.customHint}</span>
            </span>
          </button>
        </li>
      )}
    </ul>
  );
}

function PresetButton({ preset, onChoose }: PresetButtonProps) {
  return (
    <button
      type="button"
      onClick={() => onChoose(preset)}
      className="flex h-full w-full items-center gap-3 rounded-lg border px-3 py-2.5 text-left hover:border-line-strong hover:bg-hover"
    >
      <span
        aria-hidden
        className="grid size-8 shrink-0 place-items-center rounded-md bg-hover text-[13px] font-semibold text-ink"
      >
        {isLocal(preset) ? <HardDrive className="size-4" /> : preset.name.slice(0, 1)}
      </span>
      <span className="min-w-0">
        <span className="block truncate text-[13px] font-medium">{preset.name}</span>
        <span className="block truncate text-xs text-ink-faint">{hostOf(preset)}</span>
      </span>
    </button>
  );
}

/** In a private network, which the operator must allow. */
function isLocal({ base_url }: ProviderPreset): boolean {
  return base_url.startsWith('http://');
}

/** A placeholder in braces keeps the URL from being parsed. */
function hostOf({ base_url }: ProviderPreset): string {
  return base_url.split('/')[2] ?? base_url;
}

interface PresetButtonProps {
  readonly preset: ProviderPreset;
  readonly onChoose: (preset: ProviderPreset) => void;
}

interface CreateFormProps {
  readonly preset: ProviderPreset;
  readonly onBack: () => void;
  readonly onCreated: (provider: Provider) => void;
}

function CreateForm({ preset, onBack, onCreated }: CreateFormProps) {
  const [secret, setSecret] = useState('');
  const form = useContractForm<ProviderCreate>(ProviderCreate, {
    name: preset.name,
    base_url: preset.base_url,
    auth_mode: preset.auth_mode,
    auth_header_name: preset.auth_header_name,
    extra_headers: preset.extra_headers,
    extra_query: preset.extra_query,
    health_probe: 'off',
    preset_slug: preset.slug,
  });
  const create = useChange({
    run: async (api, body: ProviderCreate) => {
      const provider = await take(api.POST('/api/relay/providers', { body }));
      if (secret === '' || body.auth_mode === 'none') return provider;
      const credential = { provider_id: provider.id, name: words.credentials.nameValue, secret };
      await api.POST('/api/relay/credentials', { body: credential });
      return provider;
    },
    stale: [cacheKeys.providers, cacheKeys.credentials],
    said: ({ name }) => words.created(name),
    onDone: onCreated,
  });
  useFieldErrors(form, create.error);
  const authMode = form.watch('auth_mode') ?? preset.auth_mode;
  return (
    <form className="contents" onSubmit={submitting(form, (values) => create.mutate(values))}>
      <DialogBody>
        <div className="space-y-5">
          <TextField form={form} name="name" label={words.name} hint={words.nameHint} autoFocus />
          <ConnectionFields form={form} />
          {authMode !== 'none' ? (
            <SecretField
              authMode={authMode}
              value={secret}
              onChange={setSecret}
              optional={text.states.optional}
            />
          ) : (
            <p className="text-[13px] text-ink-faint">{words.secretNone}</p>
          )}
          <ErrorNote error={create.error} />
        </div>
      </DialogBody>
      <DialogActions>
        <Button look="quiet" className="mr-auto" onClick={onBack}>
          <ArrowLeft aria-hidden className="size-4" />
          {words.back}
        </Button>
        <Button type="submit" look="solid" busy={create.isPending}>
          {words.create}
        </Button>
      </DialogActions>
    </form>
  );
}
