import type { Operation } from '@relay/contract';
import { KEPT, type SourceShape } from '../../kit/json-source.ts';

const responsesTool = { parameters: KEPT } as const;
const responsesTools = [{ ...responsesTool, tools: [responsesTool] }] as const;
const cached = { cache_control: KEPT } as const;

/** By the client's protocol: values of a request that no translation has to understand. */
const SOURCES: Partial<Record<Operation, SourceShape>> = {
  chat: {
    messages: [{ content: [cached] }],
    tools: [{ ...cached, function: { parameters: KEPT } }],
    response_format: { json_schema: { schema: KEPT } },
  },
  messages: {
    messages: [{ content: [{ input: KEPT }] }],
    tools: [{ input_schema: KEPT }],
    output_config: { format: { schema: KEPT } },
  },
  responses: {
    input: [{ tools: responsesTools }],
    tools: responsesTools,
    text: { format: { schema: KEPT } },
    // The response repeats it.
    metadata: KEPT,
  },
};

export function requestSources(operation: Operation): SourceShape {
  return SOURCES[operation] ?? {};
}
