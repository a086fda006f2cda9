import { loadModule } from '../checkouts/load-module.ts';
import { LANE } from '../gateways/gateway.ts';
import { bigBody } from '../request-bodies.ts';
import type { Part } from './part.ts';

interface ChatModule {
  readonly chatRequest: { parse(bytes: Buffer): Generator<undefined, { readonly model: string }> };
}
interface SlicesModule {
  finish<T>(steps: Generator<undefined, T>): T;
}

/** Reading a request of 256 KiB: one scan of all its bytes, and its settings parsed. */
export async function createBodyScan(root: string): Promise<Part> {
  const { chatRequest } = await loadModule<ChatModule>(root, 'protocols/openai-chat/request.ts');
  const { finish } = await loadModule<SlicesModule>(root, 'kit/slices.ts');
  const body = bigBody(LANE);
  return {
    warmUps: 200,
    run() {
      if (finish(chatRequest.parse(body)).model !== LANE) throw new Error('the model was not found');
    },
  };
}
