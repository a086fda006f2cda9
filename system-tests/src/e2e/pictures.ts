import type { Page } from 'playwright-core';
import type { Seeded } from './seed-console.ts';

export type Visit = (page: Page, seeded: Seeded) => Promise<void>;

/** How each picture is brought about. */
export const pictures: Readonly<Record<string, Visit>> = {
  async playground(page) {
    await page.goto('/console/playground');
    await page.getByLabel('Your message').fill('Which of these invoices are overdue?');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('Tokens in / out').waitFor();
    await page.getByRole('button', { name: 'Run' }).waitFor();
  },
  async lanes(page) {
    await page.goto('/console/lanes');
    await page.getByText('Traffic').first().waitFor();
  },
  async lane(page, { laneId }) {
    await page.goto(`/console/lanes/${laneId}`);
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.getByText('It would go').waitFor();
    await page.evaluate('window.scrollTo(0, 0)');
  },
  async endpoints(page) {
    await page.goto('/console/endpoints');
    await page.getByRole('row').nth(1).waitFor();
  },
  async endpoint(page) {
    await page.goto('/console/endpoints');
    await page.getByRole('row').nth(1).getByRole('button').first().click();
    await page.getByText('for a million tokens').first().waitFor();
  },
  async providers(page) {
    await page.goto('/console/providers');
    await page.getByRole('row').nth(1).waitFor();
  },
  async provider(page) {
    await page.goto('/console/providers');
    await page.getByRole('row').nth(1).getByRole('button').first().click();
    await page.getByRole('button', { name: 'Test connection' }).click();
    await page.getByText('It works').waitFor();
  },
  async keys(page) {
    await page.goto('/console/keys');
    await page.getByRole('row').nth(1).waitFor();
  },
  async 'new-key'(page) {
    await page.goto('/console/keys');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByText('relay:request').first().waitFor();
  },
  async palette(page) {
    await page.goto('/console/lanes');
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('option').first().waitFor();
  },
};
