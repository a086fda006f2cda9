import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError } from 'ai';
import type { Wire } from './directions.ts';

type Model = ReturnType<ReturnType<typeof createAnthropic>>;

/** What a client got, as it can be given to the AI SDK again. */
export interface Received {
  readonly client: Wire;
  readonly stream: boolean;
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

/** Why the AI SDK's own schemas reject it; null when all of its providers for this protocol read it. */
export async function whyUnreadable(received: Received): Promise<string | null> {
  for (const model of modelsFor(received)) {
    const why = await unreadBy(model, received);
    if (why !== null) return `${model.provider}: ${why}`;
  }
  return null;
}

function modelsFor({ client, status, contentType, text }: Received): readonly Model[] {
  const replay = (): Promise<Response> =>
    Promise.resolve(new Response(text, { status, headers: { 'content-type': contentType } }));
  const settings = { apiKey: 'key', baseURL: 'http://replay.invalid/v1', fetch: replay };
  switch (client) {
    case 'chat':
      return [
        createOpenAI(settings).chat('model'),
        createOpenAICompatible({ ...settings, name: 'compatible' }).chatModel('model'),
      ];
    case 'responses':
      return [createOpenAI(settings).responses('model')];
    case 'messages':
      return [createAnthropic(settings)('model')];
  }
}

async function unreadBy(model: Model, { stream, status }: Received): Promise<string | null> {
  const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hi' }] }];
  try {
    if (!stream) await model.doGenerate({ prompt });
    else
      for await (const part of (await model.doStream({ prompt })).stream)
        if (part.type === 'error' && isOfSchema(part.error)) return messageOf(part.error);
    return null;
  } catch (error) {
    // An error that the schema knows has its data; one that it does not know only its text.
    if (status >= 400 && APICallError.isInstance(error) && error.data !== undefined) return null;
    // A stream whose first frame is an error is thrown with what the frame says.
    if (status < 400 && APICallError.isInstance(error) && !isOfSchema(error.cause)) return null;
    return messageOf(error);
  }
}

function isOfSchema(error: unknown): boolean {
  return error instanceof Error && /TypeValidationError|JSONParseError/.test(error.name);
}

function messageOf(error: unknown): string {
  return String(error instanceof Error ? `${error.name}: ${error.message}` : error).slice(0, 400);
}
