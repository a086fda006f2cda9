import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** What one request used. `write` is input written to a cache for 5 minutes. */
export interface Served {
  readonly model: string;
  readonly input: number;
  readonly cached: number;
  readonly write: number;
  readonly output: number;
}

/** A provider that keeps its own books: what it answers is what its reports and its bill are made of. */
export interface BillingProvider {
  readonly baseUrl: string;
  /** In the order of the requests. */
  readonly served: readonly Served[];
  stop(): Promise<void>;
}

export async function startBillingProvider(random: () => number): Promise<BillingProvider> {
  const served: Served[] = [];
  const server = createServer((request, response) => {
    answer(request, response, served, random).catch((error: unknown) => response.destroy(error as Error));
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    served,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  served: Served[],
  random: () => number,
): Promise<void> {
  const { model } = JSON.parse(await text(request)) as { model: string };
  const isMessages = request.url?.endsWith('/messages') === true;
  const upTo = (most: number) => Math.floor(random() * most);
  const [cached, write] = [upTo(400), isMessages ? upTo(200) : 0];
  const used = { model, cached, write, input: cached + write + 1 + upTo(2_000), output: 1 + upTo(900) };
  served.push(used);
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(isMessages ? messageOf(used) : completionOf(used)));
}

function completionOf({ model, input, cached, output }: Served) {
  return {
    id: 'billed',
    object: 'chat.completion',
    created: 1,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
    usage: {
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: input + output,
      prompt_tokens_details: { cached_tokens: cached },
    },
  };
}

function messageOf({ model, input, cached, write, output }: Served) {
  return {
    id: 'billed',
    type: 'message',
    role: 'assistant',
    model,
    content: [{ type: 'text', text: 'ok' }],
    stop_reason: 'end_turn',
    usage: {
      input_tokens: input - cached - write,
      cache_read_input_tokens: cached,
      cache_creation_input_tokens: write,
      cache_creation: { ephemeral_5m_input_tokens: write, ephemeral_1h_input_tokens: 0 },
      output_tokens: output,
    },
  };
}
