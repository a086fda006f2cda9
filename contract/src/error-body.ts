import Type, { type Static } from 'typebox';
import { errorCodes } from './errors.ts';
import { integer, nullable, open, optional } from './schema.ts';

/** A superset of OpenAI’s error shape. Some codes add fields, such as the limit that rejected the request. */
export const ErrorBody = open('ErrorBody', {
  error: open('Error', {
    type: Type.String(),
    code: Type.Enum([...errorCodes], { type: 'string' }),
    message: Type.String({ description: 'What happened, why, and what to do.' }),
    param: nullable(Type.String(), { description: 'The field that caused the error.' }),
    request_id: Type.String(),
    doc_url: Type.String({
      description: 'The documentation page for this code, served by the deployment itself.',
    }),
    retry_after: optional(integer({ description: 'Seconds to wait before a retry, as in `Retry-After`.' })),
  }),
});
export type ErrorBody = Static<typeof ErrorBody>;
