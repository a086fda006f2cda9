import assert from 'node:assert/strict';
import { parseKeeping, writeJson } from '../../../kit/json-source.ts';
import type { JsonObject } from '../../../kit/json-value.ts';
import { chatToMessages } from '../chat-to-messages/index.ts';
import { messageCases as chatCases } from '../chat-to-messages/request-cases.fixture.ts';
import { settingCases as chatSettings } from '../chat-to-messages/setting-cases.fixture.ts';
import { toolCases as chatTools } from '../chat-to-messages/tool-cases.fixture.ts';
import { callCases } from '../from-responses/cases/calls.fixture.ts';
import { inputCases } from '../from-responses/cases/input.fixture.ts';
import { partCases } from '../from-responses/cases/parts.fixture.ts';
import { chatFrame, type Expected, messagesFrame } from '../from-responses/cases/request-case.fixture.ts';
import { settingsCases } from '../from-responses/cases/settings.fixture.ts';
import { toolCases } from '../from-responses/cases/tools.fixture.ts';
import { messagesToChat } from '../messages-to-chat/index.ts';
import { messageCases, type RequestCase } from '../messages-to-chat/request-cases.fixture.ts';
import { settingCases } from '../messages-to-chat/setting-cases.fixture.ts';
import { requestSources } from '../request-sources.ts';
import { responsesToChat } from '../responses-to-chat/index.ts';
import { responsesToMessages } from '../responses-to-messages/index.ts';
import type { Incompatible, RequestOptions, TranslatedRequest, Translation } from '../translation.ts';

/** One case from a provider's documentation. `check` throws when the translation says something else. */
export interface Golden {
  readonly name: string;
  check(): void;
}

/** What every request of a pair's cases has, and what it becomes. */
interface Frame {
  readonly given: JsonObject;
  readonly wanted: JsonObject & { readonly model: string };
}

const MESSAGES_HELLO = [{ role: 'user', content: 'Hello, Claude' }];
const CHAT_HELLO = [{ role: 'user', content: 'Hello!' }];

const fromMessages: Frame = {
  given: { model: 'lane', max_tokens: 1024, messages: MESSAGES_HELLO },
  wanted: { model: 'gpt-6-astra', max_completion_tokens: 1024, messages: MESSAGES_HELLO },
};
const fromChat: Frame = {
  given: { model: 'lane', messages: CHAT_HELLO },
  wanted: { model: 'claude-opus-5', max_tokens: 32_000, messages: CHAT_HELLO },
};

/** Values of a kind that the client's protocol does not have. */
const wrongKinds: readonly [Translation, Frame, JsonObject][] = [
  [
    messagesToChat,
    fromMessages,
    {
      messages: 'x',
      system: 5,
      tools: {},
      tool_choice: 'auto',
      thinking: true,
      output_config: [],
      stop_sequences: 'END',
      context_management: 'x',
    },
  ],
  [
    chatToMessages,
    fromChat,
    {
      messages: 'x',
      tools: {},
      tool_choice: 'best',
      stop: 5,
      response_format: 'json',
      stream_options: true,
    },
  ],
];

const tables = {
  settings: settingsCases,
  input: inputCases,
  parts: partCases,
  calls: callCases,
  tools: toolCases,
};

export const requestGoldens: readonly Golden[] = [
  ...[...messageCases, ...settingCases].map((each) => goldenOf(messagesToChat, fromMessages, each)),
  ...[...chatCases, ...chatTools, ...chatSettings].map((each) => goldenOf(chatToMessages, fromChat, each)),
  ...wrongKinds.flatMap(([translation, frame, fields]) =>
    Object.entries(fields).map(([field, value]) =>
      goldenOf(translation, frame, {
        name: `${field} of the wrong kind is not left out silently`,
        given: { [field]: value },
        wanted: null,
        field,
      }),
    ),
  ),
  ...Object.entries(tables).flatMap(([table, cases]) =>
    cases.flatMap(({ name, request, chat, messages }) => [
      responsesGolden(responsesToChat, `${table}: ${name}`, request, chat),
      responsesGolden(responsesToMessages, `${table}: ${name}`, request, messages),
    ]),
  ),
  responsesGolden(
    responsesToChat,
    'without an effort that its endpoint rejects',
    { reasoning: { effort: 'low' } },
    { says: {}, leftOut: ['reasoning.effort'] },
    { reasoningEffort: false },
  ),
  responsesGolden(
    responsesToMessages,
    'with the output limit of its endpoint, and without an effort that it rejects',
    { reasoning: { effort: 'low', summary: 'auto' } },
    { says: { max_tokens: 7 }, leftOut: ['reasoning.effort', 'reasoning.summary'] },
    { reasoningEffort: false, maxOutputTokens: 7 },
  ),
];

function responsesGolden(
  translation: Translation,
  name: string,
  given: JsonObject,
  expected: Expected,
  options?: RequestOptions,
): Golden {
  const wanted = translation.provider === 'messages' ? messagesFrame : chatFrame;
  const frame: Frame = {
    given: { model: 'lane', input: 'Hi', store: false },
    wanted: { ...wanted, model: 'upstream' },
  };
  return goldenOf(translation, frame, {
    name,
    given,
    ...('refused' in expected
      ? { wanted: null, field: expected.refused }
      : { wanted: expected.says, leftOut: expected.leftOut ?? [] }),
    ...(options === undefined ? {} : { options }),
  });
}

/** The body as the provider gets it. */
function asSent(translated: TranslatedRequest | Incompatible): unknown {
  if (translated.kind === 'incompatible') return translated;
  return { ...translated, body: JSON.parse(writeJson(translated.body)) };
}

function goldenOf(
  translation: Translation,
  frame: Frame,
  { name, given, wanted, leftOut = [], field, options }: RequestCase,
): Golden {
  return {
    name: `${translation.client} to ${translation.provider}: ${name}`,
    check() {
      const text = JSON.stringify({ ...frame.given, ...given });
      const request = parseKeeping(text, requestSources(translation.client));
      const all = { maker: 'maker', ...options };
      const translated = translation.request(request, frame.wanted.model, all);
      assert.equal(writeJson(request), text, 'the client’s request was changed');
      const parsed = translation.request(JSON.parse(text), frame.wanted.model, all);
      assert.deepEqual(asSent(parsed), asSent(translated), 'a request without sources is another');
      if (wanted === null) {
        assert.equal(translated.kind, 'incompatible', JSON.stringify(translated));
        assert.equal(translated.field, field);
        assert.match(translated.why, /\.$/);
      } else
        assert.deepEqual(asSent(translated), {
          kind: 'translated',
          body: { ...frame.wanted, ...wanted },
          leftOut,
        });
    },
  };
}
