import { checkValue } from '@relay/contract';
import { issuesIn } from '@relay/contract/client';
import { type FormEvent, useEffect } from 'react';
import {
  type DefaultValues,
  type FieldErrors,
  type FieldValues,
  type Path,
  type UseFormReturn,
  useForm,
} from 'react-hook-form';
import type { TSchema } from 'typebox';
import { ApiError } from '../errors/api-error.ts';
import { text } from '../text/index.ts';
import { bodyOf, type FormError, formErrorOf, sentenceOf } from './form-values.ts';

/**
 * A form with the fields of a request body. It validates with the contract's schema, so the console and the
 * server agree on what is valid.
 */
export function useContractForm<Values extends FieldValues>(
  schema: TSchema,
  defaultValues: DefaultValues<Values>,
) {
  return useForm<Values>({
    defaultValues,
    mode: 'onTouched',
    resolver: (values) => {
      const body = bodyOf(values);
      const checked = checkValue(schema, body);
      if (checked.ok) return { values: body as Values, errors: {} };
      const errors: Record<string, FormError> = {};
      for (const issue of checked.issues) errors[issue.path] ??= formErrorOf(issue, body);
      return { values: {}, errors: errors as FieldErrors<Values> };
    },
  });
}

/** The submit handler: validates and passes on valid values. The write shows errors after that. */
export function submitting<Values extends FieldValues>(
  form: UseFormReturn<Values>,
  send: (values: Values) => void,
): (event: FormEvent) => void {
  const submit = form.handleSubmit(send);
  return (event) => void submit(event);
}

/** Shows the server's validation errors at their fields. */
export function useFieldErrors<Values extends FieldValues>(
  form: ReturnType<typeof useContractForm<Values>>,
  error: Error | null,
): void {
  useEffect(() => {
    if (!(error instanceof ApiError)) return;
    for (const { path, message } of issuesIn(error.response)) {
      if (path === '' || !(path in form.getValues())) continue;
      const sentence = sentenceOf(path, message) || text.errors.invalidField;
      form.setError(path as Path<Values>, { type: 'server', message: sentence });
    }
  }, [error, form]);
}
