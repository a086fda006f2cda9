import { text } from '../../text/index.ts';
import { Field, Input } from '../../ui/field.tsx';

interface SecretFieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly hint: string;
}

/** A secret can be set, never read. */
export function SecretField({ value, onChange, hint }: SecretFieldProps) {
  return (
    <Field label={text.guardrails.form.secret} hint={hint} optional={text.states.optional}>
      {(control) => (
        <Input
          {...control}
          type="password"
          autoComplete="off"
          value={value}
          onChange={(event) => onChange(event.target.value.trim())}
        />
      )}
    </Field>
  );
}
