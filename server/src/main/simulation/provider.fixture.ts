import type { Random } from '@relay/testbed/random';
import type { Egress, EgressController, EgressHandler, EgressRequest } from '../../kit/egress/index.ts';
import { currentProcess, type SimProcess, type VirtualTime } from './virtual-time.fixture.ts';

/** What the provider saw of one attempt. */
export interface ProviderEntry {
  readonly requestId: string;
  readonly origin: string;
  readonly atMs: number;
  /** When the provider stopped working on it, or its gateway gave it up; null while it runs. */
  endedMs: number | null;
  readonly inputTokens: number;
  outputTokens: number;
  /** It answered completely or failed, and reported its usage. */
  isReported: boolean;
  status: number | null;
  readonly by: SimProcess;
}

/** How a provider behaves in this run; chances in a hundred. */
export interface ProviderManners {
  readonly fails: number;
  readonly throttles: number;
  readonly hangs: number;
  readonly cuts: number;
  readonly refuses: number;
  readonly latencyMsMax: number;
  /** Between two frames of a stream. */
  readonly frameMs: number;
}

export interface SimProvider {
  readonly log: ProviderEntry[];
  /** Everything that gateways sent, whether or not it reached the provider. */
  readonly sent: { readonly requestId: string; readonly atMs: number }[];
  /** The outgoing side of one gateway. */
  egress(): Egress;
  /** A killed gateway's connections end. */
  dropped(process: SimProcess): void;
}

/** A connection takes the same time for all, so what the log says of the order is true. */
const REACHED_MS = 1;
const MODES = ['fails', 'throttles', 'hangs', 'cuts', 'refuses'] as const;

export function createProvider(time: VirtualTime, random: Random, manners: ProviderManners): SimProvider {
  const log: ProviderEntry[] = [];
  const sent: SimProvider['sent'] = [];

  function mode(): (typeof MODES)[number] | 'answers' {
    let draw = random.integer(1, 100);
    for (const each of MODES) {
      draw -= manners[each];
      if (draw <= 0) return each;
    }
    return 'answers';
  }

  function dispatch(origin: string, request: EgressRequest, handler: EgressHandler): void {
    const process = currentProcess();
    if (process === null) throw new Error('a request without a process');
    const requestId = request.headers[request.headers.indexOf('user-agent') + 1] ?? '';
    const how = mode();
    sent.push({ requestId, atMs: time.nowMs() });
    const asked = JSON.parse(textOf(request)) as { max_tokens?: number; stream?: boolean };
    const most = asked.max_tokens ?? 40;
    const plan: Plan = {
      how,
      latencyMs: random.integer(5, manners.latencyMsMax),
      outputTokens: random.integer(1, most),
      isStream: asked.stream === true,
      frameMs: manners.frameMs,
    };
    const controller = createController(() => {
      if (entry !== null) end(entry);
    });
    let entry: ProviderEntry | null = null;
    const later = (inMs: number, what: string, run: () => void) =>
      time.after(inMs, process, `${what} of ${requestId}`, () => {
        if (!controller.aborted) run();
      });
    if (how === 'refuses') {
      later(REACHED_MS, 'refused connection', () => fail(handler, controller, 'ECONNREFUSED'));
      return;
    }
    // A request starts only on an established connection.
    handler.onRequestStart?.(controller, {});
    time.after(REACHED_MS, null, `provider gets ${requestId} (${how})`, () => {
      if (controller.aborted || process.state === 'dead') return;
      entry = {
        requestId,
        origin,
        atMs: time.nowMs(),
        endedMs: null,
        inputTokens: inputOf(requestId),
        outputTokens: 0,
        isReported: false,
        status: null,
        by: process,
      };
      log.push(entry);
      const reached = entry;
      time.after(plan.latencyMs, null, `provider works on ${requestId}`, () => {
        if (reached.endedMs === null) answer({ plan, entry: reached, handler, controller, later, end });
      });
    });
  }

  function end(entry: ProviderEntry): void {
    entry.endedMs ??= time.nowMs();
  }

  return {
    log,
    sent,
    egress: () => ({ dispatch, check: () => 'unparsable' as never, close: async () => undefined }),
    dropped(process) {
      for (const entry of log) if (entry.by === process) end(entry);
    },
  };
}

interface Plan {
  readonly how: (typeof MODES)[number] | 'answers';
  readonly latencyMs: number;
  readonly outputTokens: number;
  readonly isStream: boolean;
  readonly frameMs: number;
}

interface Answering {
  readonly plan: Plan;
  readonly entry: ProviderEntry;
  readonly handler: EgressHandler;
  readonly controller: EgressController;
  readonly later: (inMs: number, what: string, run: () => void) => void;
  readonly end: (entry: ProviderEntry) => void;
}

/** Tokens of the input are not random, so that the ledger can be compared. */
function inputOf(requestId: string): number {
  return 5 + (Number.parseInt(requestId.slice(-2), 16) % 20);
}

function usageOf({ inputTokens, outputTokens }: ProviderEntry) {
  return { prompt_tokens: inputTokens, completion_tokens: outputTokens };
}

function answer(answering: Answering): void {
  const { plan, entry, handler, controller, later, end } = answering;
  if (plan.how === 'hangs') return;
  if (plan.how === 'fails' || plan.how === 'throttles') {
    const status = plan.how === 'fails' ? 500 : 429;
    const headers = status === 429 ? { 'retry-after-ms': '400' } : {};
    entry.status = status;
    end(entry);
    // Some failures are billed.
    const isBilled = plan.outputTokens % 2 === 0;
    if (isBilled) entry.outputTokens = plan.outputTokens;
    const body = { error: { message: 'no' }, ...(isBilled && { usage: usageOf(entry) }) };
    later(1, `${status}`, () => {
      entry.isReported = isBilled;
      handler.onResponseStart?.(controller, status, { 'content-type': 'application/json', ...headers });
      handler.onResponseData?.(controller, Buffer.from(JSON.stringify(body)));
      handler.onResponseEnd?.(controller, {});
    });
    return;
  }
  entry.status = 200;
  if (plan.isStream) {
    stream(answering, 0);
    return;
  }
  entry.outputTokens = plan.outputTokens;
  end(entry);
  const answered = { id: 'a', object: 'chat.completion', choices: [], usage: usageOf(entry) };
  const body = Buffer.from(JSON.stringify(answered));
  later(1, 'answer', () => {
    handler.onResponseStart?.(controller, 200, { 'content-type': 'application/json' });
    if (plan.how === 'cuts') {
      handler.onResponseData?.(controller, body.subarray(0, 9));
      fail(handler, controller, 'ECONNRESET');
      return;
    }
    entry.isReported = true;
    handler.onResponseData?.(controller, body);
    handler.onResponseEnd?.(controller, {});
  });
}

const FRAMES_MAX = 6;

function stream(answering: Answering, frame: number): void {
  const { plan, entry, handler, controller, later, end } = answering;
  if (frame === 0)
    later(1, 'head', () =>
      handler.onResponseStart?.(controller, 200, { 'content-type': 'text/event-stream' }),
    );
  // A frame has a token at least.
  const frames = Math.min(FRAMES_MAX, plan.outputTokens);
  const isCut = plan.how === 'cuts' && frame === 2;
  if (isCut) end(entry);
  later(plan.frameMs, isCut ? 'cut' : 'frame', () => {
    if (isCut) {
      fail(handler, controller, 'ECONNRESET');
      return;
    }
    entry.outputTokens = Math.ceil((plan.outputTokens * (frame + 1)) / frames);
    handler.onResponseData?.(controller, event({ choices: [{ index: 0, delta: { content: 'word' } }] }));
    if (frame + 1 < frames) {
      stream(answering, frame + 1);
      return;
    }
    end(entry);
    entry.isReported = true;
    handler.onResponseData?.(
      controller,
      event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
    );
    handler.onResponseData?.(controller, event({ choices: [], usage: usageOf(entry) }));
    handler.onResponseData?.(controller, Buffer.from('data: [DONE]\n\n'));
    handler.onResponseEnd?.(controller, {});
  });
}

function event(data: object): Buffer {
  return Buffer.from(`data: ${JSON.stringify({ id: 'a', object: 'chat.completion.chunk', ...data })}\n\n`);
}

function fail(handler: EgressHandler, controller: EgressController, code: string): void {
  handler.onResponseError?.(controller, Object.assign(new Error(code), { code }));
}

function createController(onAbort: () => void): EgressController {
  const controller = {
    aborted: false,
    paused: false,
    reason: null as Error | null,
    rawHeaders: null,
    abort(reason: Error) {
      if (controller.aborted) return;
      controller.aborted = true;
      controller.reason = reason;
      onAbort();
    },
    pause: () => undefined,
    resume: () => undefined,
  };
  return controller as unknown as EgressController;
}

function textOf({ body }: EgressRequest): string {
  return body === null ? '' : Buffer.isBuffer(body) ? body.toString() : Buffer.concat(body).toString();
}
