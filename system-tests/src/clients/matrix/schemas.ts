import { z } from 'zod';

export const STRUCTURE = z.object({ city: z.string(), days: z.int() });
export const STEP = z.object({ step: z.int(), part: z.int(), note: z.string() });

/** The tool's input as JSON Schema, as users write it by hand. */
export const TOOL_SCHEMA = {
  type: 'object' as const,
  properties: { step: { type: 'integer' }, part: { type: 'integer' }, note: { type: 'string' } },
  required: ['step', 'part', 'note'],
  additionalProperties: false,
};
