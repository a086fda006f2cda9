import type { ComponentProps } from 'react';
import { keysOf } from '../format/values.ts';
import { Select } from './field.tsx';

export interface ChoiceOption<Value extends string> {
  readonly value: Value;
  readonly label: string;
  readonly disabled?: boolean;
}

interface ChoiceProps<Value extends string>
  extends Omit<ComponentProps<'select'>, 'value' | 'onChange' | 'children'> {
  readonly value: Value;
  readonly options: readonly ChoiceOption<Value>[];
  readonly onChange: (value: Value) => void;
}

/** A select whose value is one of its options. */
export function Choice<Value extends string>({ value, options, onChange, ...rest }: ChoiceProps<Value>) {
  return (
    <Select
      {...rest}
      value={value}
      onChange={(event) => {
        const chosen = options.find((option) => option.value === event.target.value);
        if (chosen !== undefined) onChange(chosen.value);
      }}
    >
      {options.map((option) => (
        <option key={option.value} value={option.value} disabled={option.disabled}>
          {option.label}
        </option>
      ))}
    </Select>
  );
}

/** Options from a table of labels, in its order. */
export function optionsOf<Value extends string>(
  labels: Readonly<Record<Value, string>>,
): readonly ChoiceOption<Value>[] {
  return keysOf(labels).map((value) => ({ value, label: labels[value] }));
}
