import type { Provider } from '@relay/contract';
import { text } from '../../text/index.ts';
import { Field, Input, TextArea } from '../../ui/field.tsx';

const words = text.providers;

interface SecretFieldProps {
  readonly authMode: Provider['auth_mode'];
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly optional?: string;
  readonly autoFocus?: boolean;
}

/** What the provider asks for: a key in one line, or a file of several. */
export function SecretField({ authMode, value, onChange, optional, autoFocus }: SecretFieldProps) {
  const file = fileOf(authMode);
  const change = (written: string) => onChange(written.trim());
  return (
    <Field
      label={file?.label ?? words.secret}
      hint={file === null ? words.secretHint : `${file.hint} ${words.secretHint}`}
      {...(optional === undefined ? {} : { optional })}
    >
      {(control) =>
        file === null ? (
          <Input
            {...control}
            type="password"
            autoComplete="off"
            autoFocus={autoFocus}
            data-autofocus={autoFocus === true || undefined}
            required={optional === undefined}
            value={value}
            onChange={(event) => change(event.target.value)}
          />
        ) : (
          <TextArea
            {...control}
            rows={6}
            autoComplete="off"
            autoFocus={autoFocus}
            data-autofocus={autoFocus === true || undefined}
            required={optional === undefined}
            spellCheck={false}
            className="font-mono text-xs"
            placeholder={file.placeholder}
            value={value}
            onChange={(event) => onChange(event.target.value)}
          />
        )
      }
    </Field>
  );
}

function fileOf(authMode: Provider['auth_mode']) {
  const files: Partial<
    Record<Provider['auth_mode'], (typeof words.secretFiles)[keyof typeof words.secretFiles]>
  > = words.secretFiles;
  return files[authMode] ?? null;
}
