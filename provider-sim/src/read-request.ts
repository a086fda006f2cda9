import { isUtf8 } from 'node:buffer';
import { readCountTokens, readMessages } from './anthropic/messages.ts';
import { validateCountTokens, validateMessages } from './anthropic/validate-messages.ts';
import type { Ask, AskContext, Operation } from './ask.ts';
import { readChat } from './chat.ts';
import { readEmbeddings } from './embeddings.ts';
import { isRecord } from './fault.ts';
import type { SimModel } from './models.ts';
import { invalid, type Refusal, refusal } from './openai-error.ts';
import { readResponses } from './responses.ts';
import { validateChat } from './validate-chat.ts';
import { validateEmbeddings } from './validate-embeddings.ts';
import { validateResponses } from './validate-responses.ts';

export type BodyOperation = Exclude<Operation, 'models'>;

interface OperationReader {
  validate(body: Record<string, unknown>): Refusal | null;
  read(body: Record<string, unknown>, context: AskContext): Ask;
}

const readers: Record<BodyOperation, OperationReader> = {
  chat: { validate: validateChat, read: readChat },
  responses: { validate: validateResponses, read: readResponses },
  embeddings: { validate: validateEmbeddings, read: readEmbeddings },
  messages: { validate: validateMessages, read: readMessages },
  count_tokens: { validate: validateCountTokens, read: readCountTokens },
};

export type ReadResult = { ask: Ask; refused: null } | { ask: null; refused: Refusal };

export interface ReadContext {
  seed: number;
  models: Map<string, SimModel>;
}

/** From bytes to a request that the API would take, or the refusal it would give. */
export function readRequest(operation: BodyOperation, bytes: Buffer, context: ReadContext): ReadResult {
  const body = parseBody(bytes);
  if (body === null) {
    const message =
      'We could not parse the JSON body of your request. The body must be a JSON object in valid UTF-8.';
    return refused(refusal(400, message, 'invalid_json', null));
  }
  const reader = readers[operation];
  const found = reader.validate(body);
  if (found !== null) return refused(found);
  const id = String(body['model']);
  const model = context.models.get(id);
  if (model === undefined) {
    const message = `The model '${id}' does not exist or you do not have access to it.`;
    return refused(refusal(404, message, 'model_not_found', 'model'));
  }
  if (
    model.operations !== undefined &&
    !model.operations.includes(operation === 'count_tokens' ? 'messages' : operation)
  ) {
    const message = `The model '${id}' is not served on this endpoint.`;
    return refused(refusal(404, message, 'model_not_supported', 'model'));
  }
  try {
    const dimensions = model.dimensions ?? 1536;
    return { ask: reader.read(body, { seed: context.seed, dimensions }), refused: null };
  } catch (error) {
    // Only a fault that does not exist gets here; staying silent would let a test pass for nothing.
    return refused(
      invalid('sim', error instanceof Error ? error.message : String(error), 'sim_fault_invalid'),
    );
  }
}

function refused(given: Refusal): ReadResult {
  return { ask: null, refused: given };
}

function parseBody(bytes: Buffer): Record<string, unknown> | null {
  if (!isUtf8(bytes)) return null;
  try {
    const parsed: unknown = JSON.parse(bytes.toString());
    return isRecord(parsed) ? parsed : null;
  } catch {
    return null;
  }
}
