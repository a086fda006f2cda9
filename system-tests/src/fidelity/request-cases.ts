import fc from 'fast-check';
import {
  gaps,
  longStringText,
  type Member,
  memberText,
  nameText,
  oddMember,
  space,
  stringText,
  valueText,
} from './odd-json.ts';

export type OperationName = 'chat' | 'responses' | 'embeddings' | 'messages';

export const paths: Record<OperationName, string> = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  embeddings: '/v1/embeddings',
  messages: '/v1/messages',
};

export interface RequestCase {
  readonly operation: OperationName;
  readonly streaming: boolean;
  /** The client asked for usage in the stream itself. */
  readonly wantsUsage: boolean;
  readonly sent: Buffer;
  /** What must reach the upstream, put together from the parts and not by reading the bytes that were sent. */
  readonly expected: Buffer;
}

interface Part extends Member {
  readonly role: 'model' | 'stream' | 'stream_options' | 'other';
}

interface Draft {
  readonly operation: OperationName;
  readonly parts: readonly Part[];
  readonly modelText: string;
  readonly edges: readonly [string, string];
}

const BODY_BYTES_MAX = 1024 * 1024;

function part(role: Part['role'], name: string, value: fc.Arbitrary<string>): fc.Arbitrary<Part> {
  return fc.record({ role: fc.constant(role), name: nameText(name), value, gaps });
}

const flagText = fc.constantFrom('true', 'true', 'false', 'null', '1', '"true"');

const streamOptionsText = fc.oneof(
  fc.constantFrom(
    '{}',
    'null',
    '{ }',
    '{"include_usage":true}',
    '{"include_usage" : false}',
    '[]',
    '"x"',
    '7',
  ),
  fc.constantFrom('{"include_usage":false,"include_usage":true}', '{"include_us\\u0061ge":\ttrue}'),
  fc.constantFrom('{"include_obfuscation":false}', '{"include_usage":1,"z":[1,2],"a":{"b":"é🙂"}}'),
);

const roleText = fc.constantFrom('"user"', '"system"', '"us\\u0065r"', '"anything"');

const messageText = fc
  .tuple(roleText, fc.oneof(stringText, valueText), fc.array(oddMember, { maxLength: 2 }), space)
  .map(([role, content, more, gap]) => {
    // A later `role` of the wrong kind would make it another request.
    const kept = more.filter((member) => !/role|\\u/.test(member.name));
    return `{${gap}"role":${gap}${role},"content"${gap}:${content}${kept.map((each) => `,${memberText(each)}`).join('')}}`;
  });

const messagesText = fc
  .tuple(fc.array(messageText, { minLength: 1, maxLength: 3 }), space)
  .map(([list, gap]) => `[${gap}${list.join(`${gap},`)}]`);

const inputText = fc.oneof(
  stringText,
  fc.array(valueText, { maxLength: 4 }).map((items) => `[${items.join(' ,')}]`),
);

const capParts = fc.oneof(
  part('other', 'max_tokens', fc.constantFrom('16', '1e3', '-1', '9007199254740991', '"many"', 'null')),
  part('other', 'n', fc.constantFrom('1', '2', '0', '1.5', '9007199254740991')),
  part('other', 'metadata', valueText),
  part('other', 'tools', valueText),
);

const sizeBytes = fc.oneof(
  { weight: 90, arbitrary: fc.constant(0) },
  { weight: 7, arbitrary: fc.integer({ min: 1_000, max: 70_000 }) },
  { weight: 3, arbitrary: fc.integer({ min: 70_000, max: 1_040_000 }) },
);

function draft(operation: OperationName): fc.Arbitrary<Draft> {
  const content =
    operation === 'chat' || operation === 'messages'
      ? part('other', 'messages', messagesText)
      : part('other', 'input', inputText);
  const streamParts =
    operation === 'embeddings'
      ? fc.constant([])
      : fc.array(part('stream', 'stream', flagText), { maxLength: 2 });
  return fc
    .record({
      models: fc.array(part('model', 'model', valueText), { minLength: 1, maxLength: 3 }),
      content,
      streams: streamParts,
      options: fc.array(part('stream_options', 'stream_options', streamOptionsText), { maxLength: 2 }),
      caps: fc.array(capParts, { maxLength: 2 }),
      odd: fc.array(oddMember, { maxLength: 5 }),
      padding: sizeBytes,
      modelText: nameText(operation === 'messages' ? laneNames.anthropic : laneNames.openai),
      edges: fc.tuple(space, space),
      order: fc.array(fc.nat(), { minLength: 24, maxLength: 24 }),
    })
    .map(({ models, content: only, streams, options, caps, odd, padding, modelText, edges, order }) => {
      const filler: Part[] =
        padding === 0
          ? []
          : [{ role: 'other', name: '"padding"', value: longStringText(padding), gaps: ['', '', '', ''] }];
      const others = odd
        .filter(({ name }) => !isTaken(name))
        .map((each): Part => ({ ...each, role: 'other' }));
      const parts = [...models, only, ...streams, ...options, ...caps, ...others, ...filler];
      return { operation, parts: shuffled(parts, order), modelText, edges };
    });
}

/** An odd member that happens to be called like one that counts would change what the case means. */
function isTaken(nameLiteral: string): boolean {
  const taken = ['model', 'stream', 'stream_options', 'messages', 'input'];
  return taken.includes(JSON.parse(nameLiteral) as string);
}

function shuffled<T>(list: readonly T[], order: readonly number[]): T[] {
  const out = [...list];
  for (let at = out.length - 1; at > 0; at -= 1) {
    const other = (order[at] ?? 0) % (at + 1);
    const kept = out[at] as T;
    out[at] = out[other] as T;
    out[other] = kept;
  }
  return out;
}

export const laneNames = { openai: 'fidelity-openai', anthropic: 'fidelity-anthropic' };

export const upstreamModel = 'upstream "модель" \\ 1';

export const requestCase: fc.Arbitrary<RequestCase> = fc
  .oneof(
    { weight: 5, arbitrary: draft('chat') },
    { weight: 3, arbitrary: draft('responses') },
    { weight: 2, arbitrary: draft('embeddings') },
    { weight: 3, arbitrary: draft('messages') },
  )
  .map(composeCase)
  .filter(({ sent }) => sent.length <= BODY_BYTES_MAX);

function composeCase({ operation, parts, modelText, edges }: Draft): RequestCase {
  // Of duplicates the last counts, so that is where the lane's name has to stand.
  const lastModel = parts.findLastIndex(({ role }) => role === 'model');
  const list = parts.map((each, index) => (index === lastModel ? { ...each, value: modelText } : each));
  const streaming = operation !== 'embeddings' && lastValue(list, 'stream') === true;
  const options = lastValue(list, 'stream_options');
  const wantsUsage = streaming && isObject(options) && options['include_usage'] === true;
  const asksForUsage = operation === 'chat' && streaming && !wantsUsage;

  const upstream = list.map((each) => {
    if (each.role === 'model') return { ...each, value: JSON.stringify(upstreamModel) };
    return each.role === 'stream_options' && asksForUsage ? { ...each, value: withUsage(each.value) } : each;
  });
  const added = asksForUsage && !list.some(({ role }) => role === 'stream_options');
  const tail = added ? ',"stream_options":{"include_usage":true}' : '';
  return {
    operation,
    streaming,
    wantsUsage,
    sent: Buffer.from(`${edges[0]}{${list.map(memberText).join(',')}}${edges[1]}`),
    expected: Buffer.from(`${edges[0]}{${upstream.map(memberText).join(',')}${tail}}${edges[1]}`),
  };
}

/** The gateway asks for usage by adding to what the client said, wherever it said it. */
function withUsage(text: string): string {
  const given: unknown = JSON.parse(text);
  return JSON.stringify({ ...(isObject(given) ? given : {}), include_usage: true });
}

function lastValue(parts: readonly Part[], role: Part['role']): unknown {
  const found = parts.findLast((each) => each.role === role);
  return found === undefined ? undefined : JSON.parse(found.value);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
