import { type RelayRequest, relayFetch } from '../harness/relay-fetch.ts';
import type { Answer, Caller } from './answer.ts';
import { routeOf } from './route-of.ts';
import type { Secrets } from './secrets.ts';
import { answerIn, type Mode } from './served.ts';

export type Sending = Pick<RelayRequest, 'body' | 'raw' | 'headers'>;

/** The API as plain `fetch` sees it. The walk records every fault and continues. */
export interface Walk {
  readonly mode: Mode;
  readonly url: string;
  readonly secrets: Secrets;
  /** Everything that was asked and answered, in order. */
  readonly answers: readonly Answer[];
  fault(text: string): void;
  /** The faults since the last call, each once. */
  takeFaults(): string[];
  /** Sends `line`, such as `GET /api/account`. */
  send(caller: Caller, line: string, sending?: Sending): Promise<Answer>;
  /** Sends and demands this answer, or what the mode makes of it. */
  expect(caller: Caller, line: string, usual: string, sending?: Sending): Promise<Answer>;
}

export function createWalk(setup: { mode: Mode; url: string; secrets: Secrets }): Walk {
  const { mode, url, secrets } = setup;
  const answers: Answer[] = [];
  const faults = new Set<string>();
  const fault = (text: string) => void faults.add(`${mode.name}: ${text}`);

  const send: Walk['send'] = async (caller, line, { headers, ...sending } = {}) => {
    const [method = '', path = ''] = line.split(' ');
    const request = { ...sending, headers: { ...caller.headers, ...headers } };
    const { status, summary, headers: received, body, text } = await relayFetch(url, method, path, request);
    const requestId = received.get('x-request-id') ?? '';
    const answer: Answer = {
      ...{ line, route: routeOf(line), caller, status, summary, body, text, requestId },
      headers: received,
      sent: sending.body,
    };
    answers.push(answer);
    return answer;
  };

  return {
    mode,
    url,
    secrets,
    answers,
    fault,
    takeFaults() {
      const taken = [...faults];
      faults.clear();
      return taken;
    },
    send,
    async expect(caller, line, usual, sending) {
      const answer = await send(caller, line, sending);
      const expected = answer.route === null ? usual : answerIn(mode, answer.route, usual);
      if (answer.summary !== expected)
        fault(`${line} is ${answer.summary} instead of ${expected}: ${answer.text.slice(0, 300)}`);
      return answer;
    },
  };
}
