import assert from 'node:assert/strict';
import { parseKeeping, writeJson } from '../../../kit/json-source.ts';
import type { JsonObject } from '../../../kit/json-value.ts';
import { chatToMessages } from '../chat-to-messages/index.ts';
import type { ProviderProtocol } from '../meanings.ts';
import { messagesToChat } from '../messages-to-chat/index.ts';
import { requestSources } from '../request-sources.ts';
import { responsesToChat } from '../responses-to-chat/index.ts';
import { responsesToMessages } from '../responses-to-messages/index.ts';
import type { Translation } from '../translation.ts';
import { conversations } from './meanings/conversations.fixture.ts';
import type { Given, MeaningCase, Outcome } from './meanings/meaning-case.fixture.ts';
import { settings } from './meanings/settings.fixture.ts';
import { tools } from './meanings/tools.fixture.ts';
import type { Golden } from './request-goldens.fixture.ts';

const PAIRS: readonly Translation[] = [chatToMessages, messagesToChat, responsesToChat, responsesToMessages];
const GREETING = [{ role: 'user', content: 'Hi' }];

/** What every request of a client has, and what every provider gets. */
const FROM: Readonly<Record<string, JsonObject>> = {
  chat: { model: 'lane', messages: GREETING },
  messages: { model: 'lane', max_tokens: 9, messages: GREETING },
  responses: { model: 'lane', input: 'Hi', store: false },
};
const IMPLIED = ['model', 'max_tokens', 'max_completion_tokens', 'messages'];

/** Each meaning in the words of each client that has it, for each provider. */
export const meaningGoldens: readonly Golden[] = [...settings, ...tools, ...conversations].flatMap((each) =>
  PAIRS.flatMap((translation) => {
    const client = translation.client as keyof MeaningCase['from'];
    const provider = translation.provider as ProviderProtocol;
    const given = each.from[client];
    const outcome = outcomeOf(each, translation) ?? each.to[provider];
    if (given === undefined || outcome === undefined) return [];
    const name = `${client} to ${provider}: ${each.meaning}`;
    return [{ name, check: () => checkOutcome(translation, given, outcome) }];
  }),
);

function outcomeOf({ except }: MeaningCase, { client, provider }: Translation): Outcome | null {
  return except?.client === client && except.provider === provider ? except.outcome : null;
}

function checkOutcome(translation: Translation, { says, path }: Given, outcome: Outcome): void {
  const text = JSON.stringify({ ...FROM[translation.client], ...says });
  const translated = translation.request(parseKeeping(text, requestSources(translation.client)), 'm');
  if (outcome === 'refused') {
    assert.equal(translated.kind === 'incompatible' && translated.field, path, JSON.stringify(translated));
    return;
  }
  assert.equal(translated.kind, 'translated', JSON.stringify(translated));
  const body = JSON.parse(writeJson(translated.body)) as JsonObject;
  if (outcome === 'named') {
    assert.ok(translated.leftOut.includes(path ?? ''), translated.leftOut.join());
    return;
  }
  const members = Object.entries(body).filter(([name]) => !IMPLIED.includes(name) || name in outcome);
  assert.deepEqual(Object.fromEntries(members), outcome);
}
