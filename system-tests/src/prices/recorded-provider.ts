import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type RecordedUsage, recordedUsages } from './recorded-usages.ts';

/** A provider that answers every request with the recorded usage that its text names. */
export interface RecordedProvider {
  readonly baseUrl: string;
  stop(): Promise<void>;
}

export async function startRecordedProvider(): Promise<RecordedProvider> {
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const id = /usage (\d{3})/.exec(await text(request))?.[1];
  const recorded = recordedUsages.find((each) => each.id === id);
  if (recorded === undefined) {
    response.writeHead(404).end();
    return;
  }
  const type = recorded.stream ? 'text/event-stream' : 'application/json';
  response.writeHead(200, { 'content-type': type });
  response.end(
    recorded.stream ? FRAMES[recorded.protocol](recorded).join('') : JSON.stringify(wholeOf(recorded)),
  );
}

function wholeOf(recorded: RecordedUsage): unknown {
  const { protocol, usage } = recorded;
  const common = { id: 'recorded', model: 'recorded', usage, ...tierOf(recorded) };
  switch (protocol) {
    case 'chat': {
      const message = { role: 'assistant', content: 'ok' };
      return {
        ...common,
        object: 'chat.completion',
        created: 1,
        choices: [{ index: 0, message, finish_reason: 'stop' }],
      };
    }
    case 'responses':
      return { ...common, object: 'response', status: 'completed', output: [] };
    case 'messages': {
      const content = [{ type: 'text', text: 'ok' }];
      return { ...common, type: 'message', role: 'assistant', content, stop_reason: 'end_turn' };
    }
    case 'embeddings':
      return { ...common, object: 'list', data: [{ object: 'embedding', index: 0, embedding: [0.5] }] };
  }
}

function tierOf({ service_tier }: RecordedUsage) {
  return service_tier === undefined ? {} : { service_tier };
}

const FRAMES: Readonly<Record<RecordedUsage['protocol'], (recorded: RecordedUsage) => string[]>> = {
  chat(recorded) {
    const { usage, where } = recorded;
    const chunk = (choices: readonly unknown[], more: object) =>
      data({
        id: 'recorded',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'recorded',
        ...tierOf(recorded),
        choices,
        ...more,
      });
    const closing = [{ index: 0, delta: {}, finish_reason: 'stop' }];
    return [
      chunk([{ index: 0, delta: { role: 'assistant', content: 'ok' }, finish_reason: null }], {}),
      chunk(closing, where === 'x_groq' ? { x_groq: { id: 'recorded', usage } } : {}),
      ...(where === 'x_groq' ? [] : [chunk([], { usage })]),
      'data: [DONE]\n\n',
    ];
  },
  responses(recorded) {
    return [
      data({ type: 'response.output_text.delta', delta: 'ok' }),
      data({ type: 'response.completed', response: wholeOf(recorded) }),
    ];
  },
  messages(recorded) {
    const { usage } = recorded;
    const message = { id: 'recorded', type: 'message', role: 'assistant', content: [], model: 'recorded' };
    return [
      event('message_start', { message: { ...message, usage: { ...usage, output_tokens: 1 } } }),
      event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
      event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'ok' } }),
      event('content_block_stop', { index: 0 }),
      event('message_delta', {
        delta: { stop_reason: 'end_turn' },
        usage: { output_tokens: usage['output_tokens'] },
      }),
      event('message_stop', {}),
    ];
  },
  embeddings: () => [],
};

function data(payload: unknown): string {
  return `data: ${JSON.stringify(payload)}\n\n`;
}

function event(type: string, payload: object): string {
  return `event: ${type}\n${data({ type, ...payload })}`;
}
