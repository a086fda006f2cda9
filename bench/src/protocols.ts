import { parseArgs } from 'node:util';
import { say, sliceOptions, slicesOf } from './command-line.ts';
import { LANE, MESSAGES_LANE, startUpstream } from './gateways/gateway.ts';
import { type RunningRelay, startRelay } from './gateways/relay.ts';
import { requestBytes } from './load/client-connection.ts';
import { type LoadSlice, loadSlice } from './load/load-slice.ts';
import { pinToLoadCore } from './pinned-process.ts';
import { streamBody } from './request-bodies.ts';
import { type Round, runRounds } from './rounds.ts';
import { median, ratiosOf, rounded, type Spread, spread } from './statistics.ts';

export const PROTOCOLS_USAGE = `protocols: CPU of translated streams and Messages streams, compared with streams passed through
  --slices N       rounds (20)
  --slice-ms N     length of a slice (1000)
  --short          a smoke run of a few seconds: 3 slices of 250 ms; its results are not meaningful
  --profile DIR    write a CPU profile of the gateway there (slows it down)`;

const CONNECTIONS = 64;
const WARM_UP_SLICES = 4;
const CHAT = '/v1/chat/completions';
const MESSAGES = '/v1/messages';

/** Client and lane. All go through one gateway, as they would in production. */
const STREAMS = {
  chat: { path: CHAT, lane: LANE },
  messages: { path: MESSAGES, lane: MESSAGES_LANE },
  'chat from messages': { path: CHAT, lane: MESSAGES_LANE },
  'messages from chat': { path: MESSAGES, lane: LANE },
} as const;
type Name = keyof typeof STREAMS;
const NAMES: readonly Name[] = ['chat', 'messages', 'chat from messages', 'messages from chat'];

export interface ProtocolFigures {
  readonly translated_ratio: number;
  readonly messages_ratio: number;
  readonly chat_from_messages_ratio: Spread;
  readonly messages_from_chat_ratio: Spread;
  readonly messages_ratio_spread: Spread;
  readonly chat_frame_us: number;
  readonly messages_frame_us: number;
  readonly others_share: number;
}

export async function protocols(args: readonly string[]): Promise<ProtocolFigures> {
  const options = { ...sliceOptions, profile: { type: 'string' } } as const;
  const { values } = parseArgs({ args: [...args], options });
  const { slices, sliceMs } = slicesOf(values, { sliceMs: 1_000, shortSliceMs: 250 });
  const nodeFlags =
    values.profile === undefined
      ? []
      : ['--cpu-prof', '--cpu-prof-interval=200', `--cpu-prof-dir=${values.profile}`];
  pinToLoadCore();
  const started: { stop(): Promise<void> }[] = [];
  try {
    const upstream = await startUpstream();
    started.push(upstream);
    const setup = { candidates: 1, limited: false, messages: true };
    const gateway = await startRelay(upstream.url, { nodeFlags, setup });
    started.push(gateway);
    const measure = (name: Name) => measureSlice(gateway, name, sliceMs);
    return figuresOf(await runRounds(NAMES, slices, measure, WARM_UP_SLICES));
  } finally {
    for (const each of started.reverse()) await each.stop();
  }
}

async function measureSlice(gateway: RunningRelay, name: Name, sliceMs: number): Promise<LoadSlice> {
  const { port, pid, headers } = gateway;
  const { path, lane } = STREAMS[name];
  const sent = { ...headers, ...(path === MESSAGES ? { 'anthropic-version': '2023-06-01' } : {}) };
  const request = requestBytes(port, sent, bodyOf(path, lane), path);
  const slice = await loadSlice({
    port,
    pid,
    nextRequest: () => request,
    connections: CONNECTIONS,
    sliceMs,
    streaming: true,
  });
  if (slice.frames === 0) throw new Error(`a slice of ${name} passed without frames`);
  say(`  ${name.padEnd(20)}${slice.frames} frames, ${rounded(frameUs(slice), 1)} µs each`);
  return slice;
}

/** Both protocols take the same members; Messages have their system prompt elsewhere. */
function bodyOf(path: string, lane: string): Buffer {
  const body = streamBody(lane);
  if (path === CHAT) return body;
  const request = JSON.parse(body.toString()) as { readonly messages: readonly { readonly role: string }[] };
  return Buffer.from(
    JSON.stringify({ ...request, messages: request.messages.filter(({ role }) => role === 'user') }),
  );
}

function frameUs({ cpuMs, frames }: LoadSlice): number {
  return (cpuMs * 1_000) / frames;
}

function figuresOf(rounds: readonly Round<Name, LoadSlice>[]): ProtocolFigures {
  const us = (name: Name) => rounds.map((round) => frameUs(round[name]));
  // To the same provider's stream: only what is done with it differs.
  const toChat = ratiosOf(us('chat from messages'), us('messages'));
  const toMessages = ratiosOf(us('messages from chat'), us('chat'));
  const passed = ratiosOf(us('messages'), us('chat'));
  const shares = rounds.flatMap((round) => NAMES.map((name) => round[name].othersShare));
  return {
    translated_ratio: rounded(Math.max(median(toChat), median(toMessages)), 3),
    messages_ratio: rounded(median(passed), 3),
    chat_from_messages_ratio: spread(toChat, 3),
    messages_from_chat_ratio: spread(toMessages, 3),
    messages_ratio_spread: spread(passed, 3),
    chat_frame_us: rounded(median(us('chat')), 1),
    messages_frame_us: rounded(median(us('messages')), 1),
    others_share: rounded(median(shares), 3),
  };
}
