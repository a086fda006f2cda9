import assert from 'node:assert/strict';
import { parseObjectKeeping, writeJson } from '../../../kit/json-source.ts';
import { objectOf } from '../../../kit/json-value.ts';
import { chatToMessages } from '../chat-to-messages/index.ts';
import { streamCases as messagesStreams } from '../chat-to-messages/stream-cases.fixture.ts';
import { wholeCases as messagesAnswers } from '../chat-to-messages/whole-cases.fixture.ts';
import { messagesToChat } from '../messages-to-chat/index.ts';
import { streamCases as chatStreams } from '../messages-to-chat/stream-cases.fixture.ts';
import {
  wholeCases as chatAnswers,
  type StreamCase,
  type WholeCase,
} from '../messages-to-chat/whole-cases.fixture.ts';
import { responsesToChat } from '../responses-to-chat/index.ts';
import { responsesToMessages } from '../responses-to-messages/index.ts';
import { framesOf, translateStream, writerOptions } from '../stream-case.fixture.ts';
import type { Translation, WriterOptions } from '../translation.ts';
import {
  eventsIn,
  inShort,
  optionsFor,
  streamBytes,
  usageInShort,
} from '../writers/responses/answer-run.fixture.ts';
import type { AnswerCase } from '../writers/responses/cases/answer-case.fixture.ts';
import { chatAnswers as chatToResponses } from '../writers/responses/cases/chat-answers.fixture.ts';
import { messagesAnswers as messagesToResponses } from '../writers/responses/cases/messages-answers.fixture.ts';
import { checkStream } from '../writers/responses/stream-rules.fixture.ts';
import type { Golden } from './request-goldens.fixture.ts';

/** A provider's stream, which means the same wherever its bytes are cut. */
export interface StreamGolden extends Golden {
  readonly translation: Translation;
  readonly bytes: Buffer;
  readonly options: WriterOptions;
}

export const wholeGoldens: readonly Golden[] = [
  ...chatAnswers.map((each) => wholeGolden(messagesToChat, each)),
  ...messagesAnswers.map((each) => wholeGolden(chatToMessages, each)),
  ...chatToResponses.flatMap((each) => wholeResponse(responsesToChat, each)),
  ...messagesToResponses.flatMap((each) => wholeResponse(responsesToMessages, each)),
];

export const streamGoldens: readonly StreamGolden[] = [
  ...chatStreams.map((each) => streamGolden(messagesToChat, each)),
  ...messagesStreams.map((each) => streamGolden(chatToMessages, each)),
  ...chatToResponses.map((each) => streamedResponse(responsesToChat, each)),
  ...messagesToResponses.map((each) => streamedResponse(responsesToMessages, each)),
];

/** As the client gets it, from what the provider sends. */
function wholeAnswer(translation: Translation, options: WriterOptions, given: unknown): unknown {
  const reader = translation.reader(options);
  const answer = parseObjectKeeping(JSON.stringify(given), reader.sources);
  return JSON.parse(writeJson(translation.writer(options).whole(reader.whole(answer))));
}

function nameOf(kind: string, { provider, client }: Translation, name: string): string {
  return `${kind} of ${provider} for ${client}: ${name}`;
}

function wholeGolden(translation: Translation, { name, given, wanted, request = {} }: WholeCase): Golden {
  return {
    name: nameOf('answer', translation, name),
    check() {
      const options = { ...writerOptions, request };
      assert.deepEqual(wholeAnswer(translation, options, given), wanted);
    },
  };
}

function streamGolden(
  translation: Translation,
  { name, given, wanted, request = {} }: StreamCase,
): StreamGolden {
  const options = { ...writerOptions, request };
  const bytes = Buffer.from(given.map((data) => sse(data, translation.provider === 'messages')).join(''));
  return {
    name: nameOf('stream', translation, name),
    translation,
    bytes,
    options,
    check() {
      const frames = framesOf(translateStream(translation, [bytes], options));
      assert.deepEqual(
        frames.map(({ data }) => data),
        wanted,
      );
      for (const { event, data } of frames)
        assert.equal(event, translation.client === 'messages' ? typeOf(data) : null);
    },
  };
}

/** Events of Messages have names. */
function sse(data: unknown, named: boolean): string {
  if (typeof data === 'string') return data.startsWith(':') ? data : `data: ${data}\n\n`;
  return `${named ? `event: ${String(typeOf(data))}\n` : ''}data: ${JSON.stringify(data)}\n\n`;
}

function typeOf(data: unknown): unknown {
  return typeof data === 'object' && data !== null && 'type' in data ? data.type : null;
}

function wholeResponse(translation: Translation, answer: AnswerCase): readonly Golden[] {
  if (answer.whole === null) return [];
  return [
    {
      name: nameOf('answer', translation, answer.name),
      check() {
        checkResponse(wholeAnswer(translation, optionsFor(answer.request), answer.whole), answer);
      },
    },
  ];
}

function streamedResponse(translation: Translation, answer: AnswerCase): StreamGolden {
  const options = optionsFor(answer.request);
  const bytes = streamBytes(translation, answer.frames);
  return {
    name: nameOf('stream', translation, answer.name),
    translation,
    bytes,
    options,
    check() {
      const events = eventsIn(translateStream(translation, [bytes], options));
      assert.deepEqual(events.map(inShort), ['created', 'in_progress', ...answer.says, answer.end]);
      checkStream(events);
      checkResponse(objectOf(events.at(-1))['response'], answer);
    },
  };
}

function checkResponse(given: unknown, answer: AnswerCase): void {
  const response = objectOf(given);
  const [status, why] = answer.end.split(' ');
  assert.equal(response['id'], 'resp_7');
  assert.equal(response['model'], 'lane');
  assert.equal(response['created_at'], 1_700_000_000);
  assert.equal(response['status'], status);
  assert.equal(
    objectOf(response['incomplete_details'])['reason'] ?? objectOf(response['error'])['code'],
    why,
  );
  assert.deepEqual(response['output'], answer.output);
  assert.equal(usageInShort(response['usage']), answer.usage);
}
