import type { ComponentProps, ReactNode } from 'react';
import { Controller, type FieldValues, type Path, type UseFormReturn } from 'react-hook-form';
import { Field, type FieldProps, Input, Select } from '../ui/field.tsx';
import { firstFocus } from '../ui/first-focus.ts';
import { Switch } from '../ui/switch.tsx';
import { shownError } from './form-values.ts';

interface FormFieldProps<Values extends FieldValues> extends Omit<FieldProps, 'children' | 'error'> {
  readonly form: UseFormReturn<Values>;
  readonly name: Path<Values>;
}

export function errorOf<Values extends FieldValues>(form: UseFormReturn<Values>, name: Path<Values>) {
  return shownError(form.getFieldState(name, form.formState).error, form.formState.isSubmitted);
}

type InputProps = Pick<
  ComponentProps<'input'>,
  'type' | 'placeholder' | 'autoComplete' | 'autoFocus' | 'inputMode' | 'list' | 'spellCheck'
>;

export function TextField<Values extends FieldValues>(
  props: FormFieldProps<Values> & InputProps & { readonly onFilled?: (value: string) => void },
) {
  const { form, name, label, hint, optional, onFilled, ...input } = props;
  const onBlur = (event: { target: { value: string } }) => onFilled?.(event.target.value.trim());
  return (
    <Field
      label={label}
      hint={hint}
      error={errorOf(form, name)}
      {...(optional === undefined ? {} : { optional })}
    >
      {(control) => <Input {...control} autoComplete="off" {...input} {...form.register(name, { onBlur })} />}
    </Field>
  );
}

/** A whole number. An empty field is null if `nullable`; otherwise it is not sent. */
export function NumberField<Values extends FieldValues>(
  props: FormFieldProps<Values> & {
    readonly nullable?: boolean;
    readonly unit?: string;
    readonly min?: number;
    readonly isFirst?: boolean;
  },
) {
  const { form, name, label, hint, optional, nullable = false, unit, min = 0, isFirst = false } = props;
  const setValueAs = (value: unknown) => {
    if (value === '' || value === null || value === undefined) return nullable ? null : undefined;
    return Number(value);
  };
  return (
    <Field
      label={label}
      hint={hint}
      error={errorOf(form, name)}
      {...(optional === undefined ? {} : { optional })}
    >
      {(control) => (
        <div className="relative">
          <Input
            {...control}
            type="number"
            min={min}
            step={1}
            {...firstFocus(isFirst)}
            className={unit === undefined ? '' : 'pr-18'}
            {...form.register(name, { setValueAs })}
          />
          {unit === undefined ? null : (
            <span className="pointer-events-none absolute inset-y-0 right-3 grid place-items-center text-xs text-ink-faint">
              {unit}
            </span>
          )}
        </div>
      )}
    </Field>
  );
}

export function SelectField<Values extends FieldValues>(
  props: FormFieldProps<Values> & {
    readonly children: ReactNode;
    readonly nullable?: boolean;
    readonly onChosen?: (value: string) => void;
  },
) {
  const { form, name, label, hint, optional, children, nullable = false, onChosen } = props;
  const onChange = (event: { target: { value: string } }) => onChosen?.(event.target.value);
  const setValueAs = (value: unknown) => (nullable && value === '' ? null : value);
  return (
    <Field
      label={label}
      hint={hint}
      error={errorOf(form, name)}
      {...(optional === undefined ? {} : { optional })}
    >
      {(control) => (
        <Select {...control} {...form.register(name, { setValueAs, onChange })}>
          {children}
        </Select>
      )}
    </Field>
  );
}

export function SwitchField<Values extends FieldValues>(props: FormFieldProps<Values>) {
  const { form, name, label, hint } = props;
  return (
    <Controller
      control={form.control}
      name={name}
      render={({ field }) => (
        <div className="flex items-start justify-between gap-4">
          <div className="min-w-0">
            <div className="text-[13px] font-medium">{label}</div>
            {hint === undefined ? null : <p className="mt-0.5 text-xs text-ink-faint">{hint}</p>}
          </div>
          <Switch checked={field.value === true} onChange={field.onChange} label={label} />
        </div>
      )}
    />
  );
}
