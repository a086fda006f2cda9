import { text } from '../text/index.ts';
import { Field, Input } from '../ui/field.tsx';

interface EmailFieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** The address of an account, as the first field of a form. */
export function EmailField({ value, onChange }: EmailFieldProps) {
  return (
    <Field label={text.signIn.email}>
      {(control) => (
        <Input
          {...control}
          type="email"
          autoComplete="username"
          autoFocus
          required
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}
