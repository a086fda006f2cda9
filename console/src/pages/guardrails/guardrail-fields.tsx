import type { GuardrailCreate, GuardrailPreset } from '@relay/contract';
import type { UseFormReturn } from 'react-hook-form';
import { NumberField, SelectField, SwitchField, TextField } from '../../forms/fields.tsx';
import { text } from '../../text/index.ts';
import { Field, TextArea } from '../../ui/field.tsx';
import type { JsonText, JsonTexts } from './use-json-texts.ts';

const words = text.guardrails.form;
const AUTH_MODES = Object.entries(words.authModes);
const FAILURES = Object.entries(text.guardrails.failures);
const METHODS = ['POST', 'PUT'] as const;
/** `RESOURCE` in a preset's URL is a placeholder that the user replaces. */
const TO_REPLACE = /[A-Z]{4,}/;

interface FormProps {
  readonly form: UseFormReturn<GuardrailCreate>;
}

/** URL and authentication of the service. */
export function AddressFields({ form }: FormProps) {
  const address = form.watch('base_url');
  return (
    <>
      <TextField form={form} name="name" label={words.name} autoFocus />
      <TextField
        form={form}
        name="base_url"
        label={words.address}
        hint={TO_REPLACE.test(address) ? words.addressReplace : words.addressHint}
        inputMode="url"
        placeholder="https://moderation.example.com/check"
        spellCheck={false}
      />
      <SelectField form={form} name="auth_mode" label={words.authMode}>
        {AUTH_MODES.map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </SelectField>
      {form.watch('auth_mode') === 'header_static' ? (
        <TextField
          form={form}
          name="secret_header_name"
          label={words.authHeader}
          placeholder="x-api-key"
          spellCheck={false}
        />
      ) : null}
    </>
  );
}

/** When the guardrail runs, and what happens if it fails. */
export function BehaviourFields({ form }: FormProps) {
  return (
    <>
      <SwitchField form={form} name="pre_dispatch_enabled" label={words.before} hint={words.beforeHint} />
      <SwitchField form={form} name="post_response_enabled" label={words.after} hint={words.afterHint} />
      <SelectField form={form} name="failure_mode" label={words.failure} hint={words.failureHint}>
        {FAILURES.map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </SelectField>
      <div className="grid gap-5 sm:grid-cols-2">
        <NumberField form={form} name="timeout_ms" label={words.timeout} unit={words.milliseconds} min={1} />
        <NumberField form={form} name="priority" label={words.priority} hint={words.priorityHint} />
      </div>
    </>
  );
}

interface AdvancedFieldsProps extends FormProps {
  readonly texts: JsonTexts;
  /** Undefined while loading. Its values are placeholders of empty fields. */
  readonly preset: GuardrailPreset | undefined;
}

/** The request template and response rules, for services without a preset. */
export function AdvancedFields({ form, texts, preset }: AdvancedFieldsProps) {
  const isOwn = texts.template.value !== '' || texts.rules.value !== '';
  return (
    <details className="rounded-lg border" open={isOwn}>
      <summary className="cursor-pointer px-3.5 py-2.5 text-[13px] font-medium">{words.advanced}</summary>
      <div className="space-y-5 border-t px-3.5 py-4">
        <p className="text-xs text-ink-faint">{words.advancedHint}</p>
        <JsonField
          label={words.template}
          hint={words.templateHint}
          json={texts.template}
          example={preset?.request_template}
        />
        <JsonField
          label={words.rules}
          hint={words.rulesHint}
          json={texts.rules}
          example={preset?.response_rules}
        />
        <SelectField form={form} name="http_method" label={words.method}>
          {METHODS.map((method) => (
            <option key={method} value={method}>
              {method}
            </option>
          ))}
        </SelectField>
        <div className="grid gap-5 sm:grid-cols-2">
          <NumberField
            form={form}
            name="max_request_bytes"
            label={words.requestBytes}
            unit={words.bytes}
            min={1}
          />
          <NumberField
            form={form}
            name="max_response_bytes"
            label={words.responseBytes}
            unit={words.bytes}
            min={1}
          />
        </div>
      </div>
    </details>
  );
}

interface JsonFieldProps {
  readonly label: string;
  readonly hint: string;
  readonly json: JsonText;
  readonly example: unknown;
}

function JsonField({ label, hint, json, example }: JsonFieldProps) {
  return (
    <Field label={label} hint={hint} error={json.error} optional={text.states.optional}>
      {(control) => (
        <TextArea
          {...control}
          rows={6}
          spellCheck={false}
          className="font-mono text-xs"
          placeholder={example === undefined ? '' : JSON.stringify(example, null, 2)}
          value={json.value}
          onChange={(event) => json.set(event.target.value)}
        />
      )}
    </Field>
  );
}
