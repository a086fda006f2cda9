import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { PricingPolicy } from '@relay/contract';
import { createLane } from '../harness/admin-client.ts';
import { openStory } from './open-story.ts';
import { signInWithToken } from './sign-in.ts';

const listed = (input: number, output: number, more: object = {}) => ({
  litellm_provider: 'openai',
  mode: 'chat',
  input_cost_per_token: input,
  output_cost_per_token: output,
  max_input_tokens: 128_000,
  ...more,
});

/** LiteLLM's price list is chosen, looked at and applied; a price that moves too far waits for a check mark. */
describe('prices of a public list', () => {
  const story = openStory(async (site) => {
    for (const [name, micros] of [
      ['fast', 1_000_000],
      ['deep', 2_000_000],
    ] as const) {
      const { endpointIds } = await createLane(site.admin, {
        name,
        endpoints: [
          {
            baseUrl: site.provider.baseUrl,
            upstreamModel: `sim-${name}`,
            provider: { preset_slug: 'openai' },
            endpoint: { name },
          },
        ],
      });
      await site.admin.create('/api/relay/pricing-policies', {
        endpoint_id: endpointIds[0],
        input_cost_micros_per_1m_tokens: micros,
        output_cost_micros_per_1m_tokens: micros,
      });
    }
  });
  before(() => signInWithToken(story.page, story.site.adminToken));

  const prices = async () => {
    const { body } = await story.site.admin.call('GET', '/api/relay/pricing-policies');
    return (body as PricingPolicy[]).map(({ source, input_cost_micros_per_1m_tokens: input }) => [
      source,
      input,
    ]);
  };

  it('show what they would change, and what is held back', async () => {
    await story.page.goto(`${story.site.url}/console/endpoints`);
    await story.button('Import prices').click();
    const list = {
      'sim-fast': listed(1.5e-6, 2e-6),
      'sim-deep': listed(3e-5, 2e-6, { input_cost_per_token_priority: 6e-5 }),
      'sim-other': listed(1, 1),
    };
    await story.page.locator('input[type=file]').setInputFiles({
      name: 'model_prices_and_context_window.json',
      mimeType: 'application/json',
      buffer: Buffer.from(JSON.stringify(list)),
    });
    const dialog = story.page.getByRole('dialog');
    await dialog.getByText('Held back', { exact: true }).waitFor();
    await dialog.getByText('$1.00 → $1.50').waitFor();
    await dialog.getByRole('button', { name: 'Apply 1 price', exact: true }).waitFor();
    await story.inspect('a plan of prices');
    assert.deepEqual(await prices(), [
      ['manual', 1_000_000],
      ['manual', 2_000_000],
    ]);
  });

  it('are set once they are approved, with their source', async () => {
    const dialog = story.page.getByRole('dialog');
    await dialog.getByLabel('Apply price of deep anyway').check();
    await dialog.getByRole('button', { name: 'Apply 2 prices' }).click();
    await story.page.getByText('2 prices set').waitFor();
    assert.deepEqual(await prices(), [
      ['litellm', 1_500_000],
      ['litellm', 30_000_000],
    ]);
    await story.page.getByRole('button', { name: 'deep', exact: true }).click();
    await story.page.getByText('Imported from LiteLLM’s price list').waitFor();
  });

  it('are shown with nothing that broke', () => story.assertNothingFound());
});
