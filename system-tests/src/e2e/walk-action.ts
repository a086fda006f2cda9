import { routes } from '@relay/contract';
import type { Locator, Page, Request, Response } from 'playwright-core';
import { until } from '../harness/until.ts';
import type { RoleAction, Step } from './role-actions.ts';

const SHOWN_MS_MAX = 15_000;
const ANSWERED_MS_MAX = 30_000;
const ROLES = ['button', 'link', 'menuitem', 'switch'] as const;

/** Resolves once the page waits for no answer and has drawn the last one. */
export type Quiet = () => Promise<void>;

export function quietOf(page: Page): Quiet {
  const pending = new Set<Request>();
  const isAwaited = (request: Request) =>
    request.url().includes('/api/') && !request.url().includes('/stream');
  page.on('request', (request) => isAwaited(request) && pending.add(request));
  for (const event of ['requestfinished', 'requestfailed'] as const)
    page.on(event as 'requestfinished', (request) => pending.delete(request));
  const draw = () => page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))');
  return async () => {
    for (let drawn = 0; drawn < 2; drawn += 1) {
      await draw();
      if (!(await until(() => pending.size === 0, SHOWN_MS_MAX))) return;
    }
    await draw();
  };
}

interface Walked {
  readonly isOffered: boolean;
  /** What went wrong after it was offered; null if nothing did. */
  readonly problem: string | null;
}

interface Walker {
  readonly me: string;
  /** Whether the caller may. What they may not do is looked for once the page is quiet. */
  readonly expected: boolean;
  readonly quiet: Quiet;
}

/** Goes to the page, follows the steps as far as they are offered, and asserts that the last one's request succeeds. */
export async function perform(
  page: Page,
  action: RoleAction,
  { me, expected, quiet }: Walker,
): Promise<Walked> {
  const absent: Walked = { isOffered: false, problem: null };
  await quiet();
  if (!(await toPage(page, action.page))) return absent;
  const steps = action.steps.map((step) => filledIn(step, me));
  const last = steps.length - 1;
  for (const [index, step] of steps.entries()) {
    const scope =
      index === 0 && action.row !== undefined ? rowOf(page, action.row.replaceAll('{me}', me)) : page;
    const control = controlOf(scope, step);
    if (!expected) await quiet();
    if (!(await isOffered(control, step, expected))) return absent;
    if (index < last) await (typeof step === 'string' ? control.click() : fill(control, step[1]));
    else if (action.isOnlySeen === undefined)
      return { isOffered: true, problem: await send(page, action, control) };
  }
  return { isOffered: true, problem: null };
}

async function send(page: Page, action: RoleAction, control: Locator): Promise<string | null> {
  const { method, path } = routes[action.route];
  const pattern = new RegExp(`${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
  const isAnswer = (response: Response) =>
    response.request().method() === method && pattern.test(new URL(response.url()).pathname);
  const answered = page.waitForResponse(isAnswer, { timeout: ANSWERED_MS_MAX }).then(
    (response) => (response.ok() ? null : `answered ${response.status()}`),
    () => 'no request was sent',
  );
  await control.click();
  return await answered;
}

/** False where the navigation does not have the page. */
async function toPage(page: Page, name: string): Promise<boolean> {
  const pages = page.getByRole('navigation', { name: 'Pages' });
  const over = page.getByRole('dialog').or(page.getByRole('menu'));
  for (let tries = 0; tries < 3 && (await over.count()) > 0; tries += 1) await page.keyboard.press('Escape');
  // A secret that is shown once keeps its dialog.
  if ((await over.count()) > 0) await page.goto('/console/settings');
  await pages.waitFor();
  const link = pages.getByRole('link', { name, exact: true });
  if ((await link.count()) === 0) return false;
  await link.click();
  await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  return true;
}

function filledIn(step: Step, me: string): Step {
  const of = (text: string) => text.replaceAll('{me}', me);
  return typeof step === 'string' ? of(step) : [of(step[0]), of(step[1])];
}

function rowOf(page: Page, name: string): Locator {
  return page.getByRole('row').filter({ hasText: name });
}

/** The newest of that name, which is the one in an open dialog. A name that ends in `*` is the beginning of one. */
function controlOf(scope: Page | Locator, step: Step): Locator {
  const [text] = typeof step === 'string' ? [step] : step;
  const name = text.endsWith('*') ? new RegExp(`^${escaped(text.slice(0, -1))}`) : text;
  if (typeof step !== 'string') return scope.getByLabel(name, { exact: true }).last();
  const [first, ...others] = ROLES.map((role) => scope.getByRole(role, { name, exact: true }));
  return others.reduce((either, other) => either.or(other), first as Locator).last();
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

async function isOffered(control: Locator, step: Step, expected: boolean): Promise<boolean> {
  const place = typeof step === 'string' ? control : optionOf(control, step[1]);
  const isThere = expected
    ? await place.waitFor({ state: 'attached', timeout: SHOWN_MS_MAX }).then(
        () => true,
        () => false,
      )
    : (await place.count()) > 0;
  if (!isThere) return false;
  const isDisabled = (await control.isDisabled()) || (await control.getAttribute('data-disabled')) !== null;
  return !isDisabled;
}

/** Where a value is chosen from a list, the option; otherwise the field. */
function optionOf(control: Locator, value: string): Locator {
  if (value === '') return control;
  const name = value.endsWith('*') ? value.slice(0, -1) : value;
  const option = control.locator('option').filter({ hasText: name }).first();
  return option.or(control.and(control.page().locator(':not(select)'))).first();
}

async function fill(control: Locator, value: string): Promise<void> {
  const tag = await control.evaluate((element) => element.tagName);
  if (value === '') await control.check();
  else if (tag !== 'SELECT') await control.fill(value);
  else {
    const option = optionOf(control, value);
    await control.selectOption({ value: (await option.getAttribute('value')) ?? '' });
  }
}
