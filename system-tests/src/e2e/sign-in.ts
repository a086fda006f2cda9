import type { Page } from 'playwright-core';

/** Signs in as the operator of a self-hosted deployment, and waits for the shell. */
export async function signInWithToken(page: Page, token: string): Promise<void> {
  await page.goto('/');
  const other = page.getByRole('button', { name: 'Sign in with the admin token' });
  const field = page.getByLabel('Admin token');
  await other.or(field).first().waitFor();
  if (await other.isVisible()) await other.click();
  await field.fill(token);
  await submit(page);
}

export async function signInWithPassword(page: Page, email: string, password: string): Promise<void> {
  await page.goto('/');
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(password);
  await submit(page);
}

async function submit(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  const wide = page.getByRole('navigation', { name: 'Pages' });
  await wide
    .or(page.getByRole('button', { name: 'Open navigation' }))
    .first()
    .waitFor();
}
