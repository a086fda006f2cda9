import { useState } from 'react';
import { SwitchField } from '../../forms/fields.tsx';
import { text } from '../../text/index.ts';
import { Field, Input } from '../../ui/field.tsx';
import type { FieldsProps } from './limit-fields.tsx';
import { hasAlerts } from './limit-kinds.ts';

const words = text.alerts;

/** When Relay warns that the limit runs out. */
export function AlertFields({ form }: FieldsProps) {
  if (!hasAlerts(form.watch('period'))) return null;
  return (
    <>
      <SharesField form={form} />
      <SwitchField
        form={form}
        name="alert_on_forecast"
        label={words.onForecast}
        hint={words.onForecastHint}
      />
    </>
  );
}

function SharesField({ form }: Pick<FieldsProps, 'form'>) {
  const [typed, setTyped] = useState(() => form.getValues('alert_at').join(', '));
  const error = form.getFieldState('alert_at', form.formState).error;
  const change = (next: string) => {
    setTyped(next);
    const shares = next.split(/[\s,%]+/).filter((part) => part !== '');
    form.setValue('alert_at', shares.map(Number), { shouldDirty: true, shouldValidate: true });
  };
  return (
    <Field
      label={words.at}
      optional={words.atUnit}
      hint={words.atHint}
      error={error === undefined ? undefined : words.atInvalid}
    >
      {(control) => (
        <Input
          {...control}
          inputMode="decimal"
          autoComplete="off"
          value={typed}
          onChange={(event) => change(event.target.value)}
        />
      )}
    </Field>
  );
}
