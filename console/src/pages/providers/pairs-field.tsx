import type { ProviderCreate } from '@relay/contract';
import { useState } from 'react';
import type { UseFormReturn } from 'react-hook-form';
import { errorOf } from '../../forms/fields.tsx';
import { text } from '../../text/index.ts';
import { Field, TextArea } from '../../ui/field.tsx';
import { pairsOf, textOf } from './pairs.ts';

interface PairsFieldProps {
  readonly form: UseFormReturn<ProviderCreate>;
  readonly name: 'extra_headers' | 'extra_query';
  readonly label: string;
  readonly hint: string;
  readonly placeholder: string;
}

/** Names and values, one pair in each line. */
export function PairsField({ form, name, label, hint, placeholder }: PairsFieldProps) {
  const [written, setWritten] = useState(() => textOf(form.getValues(name) ?? null));
  return (
    <Field label={label} hint={hint} error={errorOf(form, name)} optional={text.states.optional}>
      {(control) => (
        <TextArea
          {...control}
          rows={2}
          spellCheck={false}
          className="font-mono text-xs"
          placeholder={placeholder}
          value={written}
          onChange={(event) => {
            setWritten(event.target.value);
            form.setValue(name, pairsOf(event.target.value), { shouldDirty: true });
          }}
        />
      )}
    </Field>
  );
}
