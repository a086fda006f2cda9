import { afterMs } from '../harness/until.ts';

const PER_SECOND = 50;

export interface Sent {
  readonly requestId: string;
  /** Which gateway served it. */
  readonly gateway: number;
  readonly streaming: boolean;
  readonly status: number;
  /** The whole answer arrived. */
  readonly whole: boolean;
  /** Content had arrived when it ended. */
  readonly begun: boolean;
  readonly text: string;
}

export interface SteadyRequests {
  /** Resolves when the last request is answered. */
  stop(): Promise<readonly Sent[]>;
}

/** Fifty requests a second, whatever becomes of those before, in turn to each gateway; every other one is a stream. */
export function startSteadyRequests(
  urls: readonly string[],
  { token, model }: { token: string; model: string },
): SteadyRequests {
  const sent: Promise<Sent>[] = [];
  const startMs = performance.now();
  let running = true;
  const sending = (async () => {
    while (running) {
      const number = sent.length;
      const gateway = number % urls.length;
      // Pairs of a stream and a whole answer at each gateway.
      const streaming = Math.floor(number / urls.length) % 2 === 0;
      sent.push(sendRequest(urls[gateway] ?? '', { token, model, gateway, streaming }));
      await afterMs(Math.max(0, startMs + (sent.length * 1_000) / PER_SECOND - performance.now()));
    }
  })();
  return {
    async stop() {
      running = false;
      await sending;
      return Promise.all(sent);
    },
  };
}

/** One request, and what its client saw. */
export async function sendRequest(
  url: string,
  { token, model, gateway = 0, streaming = false }: SendOptions,
): Promise<Sent> {
  const sim = streaming ? { frames: 6, frameDelayMs: 15 } : { outputTokens: 4 };
  let [status, requestId, text] = [0, '', ''];
  try {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model,
        stream: streaming,
        max_tokens: 50,
        messages: [{ role: 'user', content: 'How are you?' }],
        sim,
      }),
      signal: AbortSignal.timeout(20_000),
    });
    status = response.status;
    requestId = response.headers.get('x-request-id') ?? '';
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString();
  } catch (error) {
    text += String(error);
  }
  const whole = streaming ? text.includes('data: [DONE]') : text.trimEnd().endsWith('}');
  return { requestId, gateway, streaming, status, whole, begun: text.includes('"content"'), text };
}

export interface SendOptions {
  readonly token: string;
  readonly model: string;
  readonly gateway?: number;
  readonly streaming?: boolean;
}

/** What the clients saw: failures, and apart from them streams that broke off after their first content. */
export function failuresOf(sent: readonly Sent[]): { failed: readonly Sent[]; cut: number } {
  const broken = sent.filter(({ status, whole }) => status !== 200 || !whole);
  const isCut = ({ streaming, status, begun }: Sent) => streaming && status === 200 && begun;
  return { failed: broken.filter((each) => !isCut(each)), cut: broken.filter(isCut).length };
}
