import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { RequestLogEntry } from '@relay/provider-sim';
import { createLane } from '../../harness/admin-client.ts';
import { type Deployment, startDeployment } from '../../harness/deployment.ts';
import { signatureOf } from '../../harness/played/played-turn.ts';
import { aiSdkClients } from './ai-sdk-client.ts';
import { anthropicClients } from './anthropic-client.ts';
import { langchainClients } from './langchain-client.ts';
import type { ClientProtocol, MatrixClient } from './matrix-client.ts';
import { openaiChatClients } from './openai-chat-client.ts';
import { openaiResponsesClients } from './openai-responses-client.ts';
import { playLoop } from './played-loop.ts';
import { expectedOutcome, type Outcome, type Scenario, turnsOf } from './scenarios.ts';

/** What an endpoint speaks. */
type Spoken = 'chat' | 'responses' | 'messages';

const ENDPOINTS: Readonly<Record<Spoken, object>> = {
  messages: {
    provider: { auth_mode: 'header_static', auth_header_name: 'x-api-key' },
    endpoint: { protocol: 'anthropic', route_kind: 'messages' },
  },
  chat: { endpoint: { route_kind: 'chat' } },
  responses: { endpoint: { route_kind: 'responses' } },
};

/** The client's own protocol first, then every translation from it. */
const DIRECTIONS: Readonly<Record<ClientProtocol, readonly Spoken[]>> = {
  chat: ['chat', 'messages'],
  responses: ['responses', 'chat', 'messages'],
  messages: ['messages', 'chat'],
};

const clients: readonly MatrixClient[] = [
  ...openaiChatClients,
  ...openaiResponsesClients,
  ...anthropicClients,
  ...aiSdkClients,
  ...langchainClients,
];

export interface Cell {
  readonly client: MatrixClient;
  readonly spoken: Spoken;
  readonly scenario: Scenario;
}

const cells: readonly Cell[] = clients.flatMap((client) =>
  DIRECTIONS[client.protocol].flatMap((spoken) =>
    client.scenarios.map((scenario) => ({ client, spoken, scenario })),
  ),
);

interface Refusal {
  readonly why: string;
  readonly has: (cell: Cell) => boolean;
  /** The error names the field and what to do. */
  readonly cure: RegExp;
}

/** Cells that Relay rejects by name, with the cure. Another cell of the matrix shows that the cure works. */
const REFUSALS: readonly Refusal[] = [
  {
    why: 'the SDK stores by default and refers to what it stored, and translated items are not kept',
    has: ({ client, spoken, scenario }) =>
      /^ai openai, (?:generate|stream)Text$/.test(client.name) &&
      spoken !== 'responses' &&
      turnsOf(scenario) > 0,
    cure: /item_reference.*store: false/s,
  },
];

export interface MatrixFigures {
  cells: number;
  failed: number;
  refused_with_cure: number;
}

/** Every published client in every direction does every scenario that it has. */
export function describeMatrix(figures: MatrixFigures): void {
  describe('the matrix of clients', () => {
    let deployment: Deployment;

    before(async () => {
      const models = ['chat', 'responses', 'messages'].map((spoken) => `plays-${spoken}`);
      deployment = await startDeployment({ provider: { play: playLoop, models } });
      const { admin, provider } = deployment;
      for (const [spoken, setup] of Object.entries(ENDPOINTS)) {
        const endpoint = { baseUrl: provider.baseUrl, upstreamModel: `plays-${spoken}`, ...setup };
        await createLane(admin, { name: `speaks-${spoken}`, endpoints: [endpoint] });
      }
    });
    after(() => deployment.stop());

    for (const cell of cells) {
      const { client, spoken, scenario } = cell;
      it(`${client.name}, ${client.protocol === spoken ? 'passed through' : `translated to ${spoken}`}: ${scenario}`, async () => {
        figures.cells += 1;
        figures.failed += 1;
        const seen = deployment.provider.log.at(-1)?.id ?? 0;
        const target = { url: deployment.url, token: deployment.apiToken, model: `speaks-${spoken}` };
        const refusal = REFUSALS.find(({ has }) => has(cell));
        const run = client.run(target, scenario);
        if (refusal === undefined) {
          judgeOutcome(scenario, await run);
          judgeProvider(
            cell,
            deployment.provider.log.filter((entry) => entry.id > seen && !startsThread(entry)),
          );
        } else {
          await assert.rejects(run, refusal.cure);
          figures.refused_with_cure += 1;
        }
        figures.failed -= 1;
      });
    }
  });
}

function judgeOutcome(scenario: Scenario, outcome: Outcome): void {
  const expected = expectedOutcome(scenario);
  assert.deepEqual(outcome.inputs, expected.inputs);
  if (scenario === 'structured') assert.deepEqual(JSON.parse(outcome.text), JSON.parse(expected.text));
  else assert.equal(outcome.text, expected.text);
}

/** The first request of Anthropic's tool runner, which continues without a thread when it is rejected. */
function startsThread({ body }: RequestLogEntry): boolean {
  return body?.includes('"thread":{"type":"create"}') === true;
}

function judgeProvider({ client, spoken, scenario }: Cell, received: readonly RequestLogEntry[]): void {
  const faulty = received.filter(
    ({ outcome, violations }) => outcome !== 'completed' || violations.length > 0,
  );
  assert.deepEqual(
    faulty.map(({ path, outcome, status, violations }) => ({ path, outcome, status, violations })),
    [],
  );
  assert.equal(received.length, turnsOf(scenario) + 1);
  const isPassed = client.protocol === spoken;
  // A translation sends only what the provider's API knows.
  if (!isPassed)
    assert.deepEqual(
      received.flatMap(({ unknownFields }) => unknownFields),
      [],
    );
  if (isPassed && spoken !== 'chat' && scenario === 'thinking')
    // As it was, or by the ID under which the provider stored it.
    assert.ok([signatureOf(0), '"rs_0"'].some((said) => received.at(-1)?.body?.includes(said) === true));
}
