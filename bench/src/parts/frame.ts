import { streamFrames } from '../canned-answers.ts';
import { loadModule } from '../checkouts/load-module.ts';
import type { Part } from './part.ts';

interface Reply {
  readonly result: Promise<{
    readonly kind: string;
    readonly metered?: { readonly reported: unknown };
    /** Before attempts were metered one by one. */
    readonly delivery?: { readonly usage?: unknown };
  }>;
  onHead(head: object, flow: object): void;
  onData(chunk: Buffer): void;
  onEnd(): void;
}

const STREAMS = 3;
const HEAD = { status: 200, headers: { 'content-type': 'text/event-stream; charset=utf-8' } };
const FLOW = { pause: () => undefined, resume: () => undefined, abort: () => undefined };

/** Relaying streams of 201 frames, one chunk each: frames found, usage read, chunks written for the client, to a socket that takes all. */
export async function createFrame(root: string): Promise<Part> {
  const { Reply } = await loadModule<{ Reply: new (deps: object) => Reply }>(
    root,
    'inference/respond/reply.ts',
  );
  const { openaiChat } = await loadModule<{ openaiChat: object }>(root, 'protocols/openai-chat/index.ts');
  const { systemClock } = await loadModule<{ systemClock: object }>(root, 'kit/clock.ts');
  const frames = streamFrames(true);
  const deps = {
    protocol: openaiChat,
    clock: systemClock,
    slices: { run: () => undefined },
    decoding: () => undefined,
    dropUsageFrame: true,
    translator: null,
    whole: false,
    holdMs: 0,
    choices: () => 1,
    onHead: () => undefined,
    onContent: () => undefined,
    headersFor: () => [],
    errorFrame: () => '',
    cleanFrame: (frame: Buffer) => frame,
  };
  return {
    warmUps: 200,
    async run() {
      for (let stream = 0; stream < STREAMS; stream += 1) {
        const response = createSink();
        const reply = new Reply({ ...deps, exchange: { response, upstreamMs: 0 } });
        reply.onHead(HEAD, FLOW);
        for (const frame of frames) reply.onData(frame);
        reply.onEnd();
        const { kind, metered, delivery } = await reply.result;
        const usage = metered?.reported ?? delivery?.usage;
        if (kind !== 'delivered' || usage == null || response.bytes === 0)
          throw new Error(`a stream was not delivered with its usage: ${kind}`);
      }
    },
  };
}

/** What a reply uses of a response. Node's own part of a write is not the product's. */
function createSink() {
  return {
    chunkedEncoding: true,
    bytes: 0,
    writeHead: () => undefined,
    write(piece: string | Buffer) {
      this.bytes += piece.length;
      return true;
    },
    end: () => undefined,
    once: () => undefined,
    destroy: () => undefined,
  };
}
