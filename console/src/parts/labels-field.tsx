import { text } from '../text/index.ts';
import { Field, Input } from '../ui/field.tsx';
import { labelsOf } from './labels-text.ts';

interface LabelsFieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** Labels as one line of text: app=search, env=prod. */
export function LabelsField({ value, onChange }: LabelsFieldProps) {
  return (
    <Field
      label={text.teams.labels}
      hint={text.teams.labelsHint}
      error={labelsOf(value) === null ? text.teams.labelsInvalid : undefined}
    >
      {(control) => (
        <Input
          {...control}
          autoComplete="off"
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}
