import type { ProviderCreate } from '@relay/contract';
import type { UseFormReturn } from 'react-hook-form';
import { NumberField, SelectField, TextField } from '../../forms/fields.tsx';
import { text } from '../../text/index.ts';
import { PairsField } from './pairs-field.tsx';

const words = text.providers;
const MODES = Object.entries(words.authModes);
const PROBES = Object.entries(words.probes);

/** The URL and authentication of a provider, for creating and editing. */
export function ConnectionFields({ form }: { readonly form: UseFormReturn<ProviderCreate> }) {
  return (
    <>
      <TextField
        form={form}
        name="base_url"
        label={words.baseUrl}
        hint={words.baseUrlHint}
        inputMode="url"
        placeholder="https://api.example.com/v1"
        spellCheck={false}
      />
      <SelectField form={form} name="auth_mode" label={words.authMode}>
        {MODES.map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </SelectField>
      <AuthFields form={form} />
      <PairsField
        form={form}
        name="extra_headers"
        label={words.extraHeaders}
        hint={words.extraHeadersHint}
        placeholder="X-Title: Relay"
      />
      <PairsField
        form={form}
        name="extra_query"
        label={words.extraQuery}
        hint={words.extraQueryHint}
        placeholder="api-version: 2024-10-21"
      />
      <NumberField
        form={form}
        name="max_latency_ms"
        label={words.latencyMax}
        hint={words.latencyMaxHint}
        unit={words.milliseconds}
        optional={text.states.optional}
      />
      <SelectField form={form} name="health_probe" label={words.probe} hint={words.probeHint}>
        {PROBES.map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </SelectField>
    </>
  );
}

/** What the chosen way to authenticate needs besides the credential. */
function AuthFields({ form }: { readonly form: UseFormReturn<ProviderCreate> }) {
  const mode = form.watch('auth_mode');
  if (mode === 'header_static')
    return (
      <TextField
        form={form}
        name="auth_header_name"
        label={words.authHeader}
        placeholder="x-api-key"
        spellCheck={false}
      />
    );
  if (mode !== 'aws_sigv4') return null;
  return (
    <>
      <TextField
        form={form}
        name="aws_region"
        label={words.awsRegion}
        hint={words.awsRegionHint}
        placeholder="us-east-1"
        optional={text.states.optional}
        spellCheck={false}
      />
      <TextField
        form={form}
        name="aws_service"
        label={words.awsService}
        hint={words.awsServiceHint}
        placeholder="bedrock"
        optional={text.states.optional}
        spellCheck={false}
      />
    </>
  );
}
