import assert from 'node:assert/strict';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Operation } from '@relay/contract';
import { RelayError } from '../../domain/relay-error.ts';
import { systemClock as clock } from '../../kit/clock.ts';
import { createFairSlices } from '../../kit/fair-slices.ts';
import { createOneAtATime } from '../../kit/one-at-a-time.ts';
import { protocols } from '../../protocols/index.ts';
import type { AttemptFault, AttemptResult, Exchange, Metered, UpstreamHead } from '../exchange.ts';
import { Reply } from './reply.ts';
import type { ReplyDeps } from './reply-deps.ts';
import { event, frame } from './stream.fixture.ts';

const CUT: AttemptFault = { code: 'upstream_invalid_response', why: 'the response was cut off' };
export const TIMED_OUT: AttemptFault = { code: 'upstream_timeout', why: 'too slow' };
export const JSON_TYPE = { 'content-type': 'application/json' };
export const STREAM_TYPE = { 'content-type': 'text/event-stream' };

export const text = (content: string) =>
  frame({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });
export const spent = { prompt_tokens: 11, completion_tokens: 7 };
export const USAGE = frame({ choices: [], usage: spent });
export const DONE = frame('[DONE]');
export const MESSAGE_START = event('message_start', {
  message: { usage: { input_tokens: 900, output_tokens: 1 } },
});
export const answer = (more: object = {}) =>
  JSON.stringify({ choices: [{ message: { content: 'hi' } }], usage: spent, ...more });

export const reported = { inputTokens: 11, outputTokens: 7, cachedInputTokens: 0 };
export const input = { inputTokens: 900, cachedInputTokens: 0 };

/** How an answer continues after its head: its bytes, then what happens to it. */
export type Step = string | Buffer | ((reply: Reply) => void | Promise<void>);

export const end: Step = (reply) => reply.onEnd();
export const cut: Step = (reply) => reply.onFailure(CUT);
export const leave: Step = (reply) => reply.stop('client_gone');
export const shutDown: Step = (reply) => reply.stop(new RelayError('draining'));
/** As long as a decoder in another thread may take. */
export const turns: Step = async () => {
  for (let count = 0; count < 20; count += 1) await new Promise((resolve) => setTimeout(resolve, 1));
};

export interface Settings {
  readonly operation?: Operation;
  readonly head?: Partial<UpstreamHead>;
  readonly over?: Partial<ReplyDeps>;
}

export const stream = { head: { headers: STREAM_TYPE } };
/** All of the usage in `spent`, and no text. */
export const ALL = { reported, inPart: null, streamedTokens: 0 };
export const FLOW = { pause: () => undefined, resume: () => undefined, abort: () => undefined };

type Counted = Omit<Metered, 'sent'> & { readonly kind: AttemptResult['kind'] };

/** For tests: replies to real clients, of which each test says what arrives from the provider. */
export interface Replies {
  /** A client's request. */
  ask(): Promise<{ readonly exchange: Exchange; readonly received: Promise<string> }>;
  play(
    settings: Settings,
    ...steps: readonly Step[]
  ): Promise<AttemptResult & { readonly received: Promise<string> }>;
  metered(settings: Settings, ...steps: readonly Step[]): Promise<Counted>;
  close(): void;
}

export async function startReplies(): Promise<Replies> {
  let serve: (response: ServerResponse) => void = () => undefined;
  const server = createServer((_request, response) => serve(response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  const replies: Replies = {
    async ask() {
      const served = new Promise<ServerResponse>((resolve) => {
        serve = resolve;
      });
      const received = receive(port);
      const response = await served;
      const exchange = { response, upstreamMs: 0, caller: { organizationId: 'org' } } as unknown as Exchange;
      return { exchange, received };
    },
    async play({ operation = 'chat', head = {}, over = {} }, ...steps) {
      const { exchange, received } = await replies.ask();
      const reply = new Reply({ ...depsOf(exchange, operation), ...over });
      reply.onSent();
      reply.onHead({ status: 200, headers: JSON_TYPE, ...head }, FLOW);
      for (const step of steps) {
        if (typeof step === 'function') await step(reply);
        else reply.onData(Buffer.from(step));
      }
      const result = await reply.result;
      if (result.kind !== 'delivered') exchange.response.destroy();
      return { ...result, received };
    },
    async metered(settings, ...steps) {
      const { kind, metered } = await replies.play(settings, ...steps);
      const { sent, ...counted } = metered;
      assert.equal(sent, true);
      return { kind, ...counted };
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return replies;
}

function depsOf(exchange: Exchange, operation: Operation): ReplyDeps {
  return {
    exchange,
    protocol: protocols[operation],
    clock,
    slices: createFairSlices(clock, 1),
    decoding: createOneAtATime(),
    dropUsageFrame: false,
    translator: null,
    whole: false,
    holdMs: 2_000,
    choices: () => 1,
    onHead: () => undefined,
    onContent: () => undefined,
    headersFor: () => [],
    errorFrame: () => 'error frame',
    cleanFrame: (each) => each,
  };
}

/** Everything that a client receives. */
function receive(port: number): Promise<string> {
  const request = get({ port, host: '127.0.0.1', agent: false });
  return new Promise((resolve) => {
    let all = '';
    request.once('error', () => resolve(all));
    request.once('response', (response: IncomingMessage) => {
      response.on('data', (chunk: Buffer) => {
        all += chunk.toString('latin1');
      });
      response.once('error', () => resolve(all));
      response.once('close', () => resolve(all));
    });
  });
}
