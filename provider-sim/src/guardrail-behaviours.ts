import type { ServerResponse } from 'node:http';

/** What a guardrail was asked, as far as its behaviours look at it. */
export interface GuardrailAsked {
  /** The words to judge, wherever the request carries them. */
  readonly text: string;
}

export type GuardrailBehaviour = (response: ServerResponse, asked: GuardrailAsked) => void;

/** Every behavior that reads the text flags this word. */
export const FORBIDDEN_WORD = 'forbidden';

const OVERSIZED_BYTES = 3 * 1024 * 1024;
const DRIP_MS = 100;
const ALLOW = JSON.stringify({ verdict: 'allow' });

/**
 * How a guardrail of `custom-http` behaves, by the last part of its address. Those that fail say "allow" wherever they get
 * to say anything: a gateway that looks at less than the whole answer lets everything through.
 */
export const guardrailBehaviours = {
  allow: (response) => answer(response, 200, ALLOW),
  block: (response) => answer(response, 200, JSON.stringify({ verdict: 'block' })),
  flag: (response) => answer(response, 200, JSON.stringify({ verdict: 'flag' })),
  judge: (response, { text }) =>
    answer(response, 200, JSON.stringify({ verdict: text.includes(FORBIDDEN_WORD) ? 'block' : 'allow' })),
  'status-500': (response) => answer(response, 500, ALLOW),
  'status-204': (response) => void response.writeHead(204).end(),
  redirect: (response) => {
    response.setHeader('location', '/allow');
    answer(response, 302, ALLOW);
  },
  malformed: (response) => answer(response, 200, ALLOW.slice(0, -1)),
  website: (response) => answer(response, 200, '<html>allow</html>'),
  oversized: (response) =>
    answer(response, 200, `${ALLOW.slice(0, -1)},"padding":"${'x'.repeat(OVERSIZED_BYTES)}"}`),
  cut(response) {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': ALLOW.length + 10 });
    response.write(ALLOW, () => response.destroy());
  },
  drip(response) {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': ALLOW.length });
    let sent = 0;
    const timer = setInterval(() => {
      response.write(ALLOW.slice(sent, sent + 1));
      sent += 1;
      if (sent === ALLOW.length) response.end();
    }, DRIP_MS);
    response.on('close', () => clearInterval(timer));
  },
  hang: () => undefined,
  reset: (response) => void response.destroy(),
  unknown: (response) => answer(response, 200, JSON.stringify({ verdict: 'perhaps', allow: true })),
} satisfies Record<string, GuardrailBehaviour>;

export type GuardrailBehaviourName = keyof typeof guardrailBehaviours;

export function answer(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}
