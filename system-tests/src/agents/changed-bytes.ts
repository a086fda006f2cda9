import type { RunEvidence, Spoken } from './agent-run.ts';
import { stepAskedFor } from './task.ts';

export interface Changed {
  /** Requests and answers that were compared. */
  readonly compared: number;
  readonly bytes: number;
}

const OWN: Readonly<Record<RunEvidence['plan']['client'], { spoken: Spoken; path: string }>> = {
  'claude-code': { spoken: 'messages', path: '/messages' },
  codex: { spoken: 'responses', path: '/responses' },
  opencode: { spoken: 'chat', path: '/chat/completions' },
};

export function ownProtocol({ client }: Pick<RunEvidence['plan'], 'client'>): Spoken {
  return OWN[client].spoken;
}

/**
 * Bytes that differ between what the client sent and what a provider of the same protocol got, but for the value of `model`, and
 * between what that provider answered and what the client got.
 */
export function changedBytes({ plan, lane, recorded, received }: RunEvidence): Changed {
  const passed = received.filter(({ path }) => path.endsWith(OWN[plan.client].path));
  let [compared, bytes] = [0, 0];
  for (const { body, model, fault, outcome } of passed) {
    const step = stepAskedFor(String(body));
    const record = recorded.find((each) => stepAskedFor(each.body.toString()) === step);
    const sent = record?.body.toString().replace(`"model":"${lane.slug}"`, `"model":"${model}"`) ?? '';
    const expected = plan.spoken.length === 1 ? sent : withoutOwnThinking(sent);
    bytes += difference(Buffer.from(expected), body ?? Buffer.alloc(0));
    compared += 1;
    if (outcome !== 'completed' || record === undefined) continue;
    bytes += difference(Buffer.from((fault?.rawFrames ?? []).join('')), record.answer);
    compared += 1;
  }
  return { compared, bytes };
}

/**
 * Where translated turns alternate with others, the client returns thinking that Relay wrote to a provider that has not, and Relay
 * takes it out. The clients write JSON without spaces, as `JSON.stringify` does, and never end a list with thinking.
 */
function withoutOwnThinking(sent: string): string {
  const { input = [], messages = [] } = JSON.parse(sent) as SentBody;
  const blocks = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));
  const own = [...input, ...blocks].filter(
    ({ signature, encrypted_content: sealed }) => isOwn(signature) || isOwn(sealed),
  );
  return own.reduce((text, item) => text.replace(`${JSON.stringify(item)},`, ''), sent);
}

interface SentBody {
  readonly input?: readonly Thinking[];
  readonly messages?: readonly { readonly content: string | readonly Thinking[] }[];
}

interface Thinking {
  readonly signature?: string;
  readonly encrypted_content?: string | null;
}

function isOwn(mark: string | null | undefined): boolean {
  return mark?.startsWith('relay-') === true;
}

function difference(one: Buffer, other: Buffer): number {
  if (one.equals(other)) return 0;
  let count = Math.abs(one.length - other.length);
  for (let at = 0; at < Math.min(one.length, other.length); at += 1) if (one[at] !== other[at]) count += 1;
  return count;
}
