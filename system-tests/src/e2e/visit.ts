import axe from 'axe-core';
import type { ConsoleMessage, Page } from 'playwright-core';

/** What was seen on the way: pages by name, faults of accessibility, and what a browser complained about. */
export interface Findings {
  readonly pages: Set<string>;
  readonly violations: string[];
  readonly complaints: string[];
}

export function newFindings(): Findings {
  return { pages: new Set(), violations: [], complaints: [] };
}

/** Browsers log every failed response, and tests cause some of them. */
const EXPECTED =
  /Failed to load resource: (the server responded with a status of (400|401|403|404|409|412|429|503)|net::ERR_(FAILED|CONNECTION_REFUSED|CONNECTION_RESET|EMPTY_RESPONSE|INCOMPLETE_CHUNKED_ENCODING))/;

/** Anything else that a browser complains about is a fault: a policy that was hurt, a crash, a warning of React. */
export function watch(page: Page, findings: Findings): void {
  page.on('console', (message: ConsoleMessage) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return;
    if (!EXPECTED.test(message.text())) findings.complaints.push(`${page.url()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => findings.complaints.push(`${page.url()}: ${error.message}`));
}

/** Runs axe over what is on the page now, by the rules of WCAG 2.2 AA. */
export async function inspect(page: Page, name: string, findings: Findings): Promise<void> {
  findings.pages.add(name);
  // Evaluated by the browser's own debugger, since the page's policy lets no script in. It stays until the page is loaded again.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source);
  const found = await page.evaluate(async () => {
    const { run } = (globalThis as unknown as { axe: typeof axe }).axe;
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
    // Of what is in order, nothing has to be described.
    const { violations } = await run({ runOnly: { type: 'tag', values: tags }, resultTypes: ['violations'] });
    return violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`,
    );
  });
  findings.violations.push(...found.map((each) => `${name}: ${each}`));
}
