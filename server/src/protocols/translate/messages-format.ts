import { parsedValue, withMember } from '../../kit/json-source.ts';
import { isObject, type JsonObject } from '../../kit/json-value.ts';
import type { FieldSorter } from './field-sorter.ts';
import { canBeStrict, withoutBounds } from './strictness.ts';

interface Format {
  readonly schema: unknown;
  readonly description: unknown;
  /** Where the request has both. */
  readonly path: string;
}

/**
 * What an answer has to look like, for Messages, which always keep to the schema and reject those that they can't keep to. A forced tool
 * could imitate other formats, and the answer would be another.
 */
export function messagesFormat(
  sorter: FieldSorter,
  { schema: given, description, path }: Format,
): JsonObject | undefined {
  const { schema, left } = withoutBounds(given);
  for (const name of left) sorter.leaveOut(`${path}.schema.${name}`);
  const parsed = parsedValue(schema);
  if (!isObject(parsed)) {
    sorter.wrongKind(`${path}.schema`, 'a JSON schema');
    return undefined;
  }
  if (!canBeStrict('messages', schema))
    sorter.refuse(
      `${path}.schema`,
      'The Messages API accepts only object schemas with additionalProperties: false.',
    );
  if (typeof description !== 'string') return { type: 'json_schema', schema };
  // A schema has one description; of two, one would be lost.
  if (parsed['description'] !== undefined) sorter.cannotSay(`${path}.description`);
  return { type: 'json_schema', schema: withMember(schema, 'description', description) };
}
