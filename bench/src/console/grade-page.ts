import type { Page } from 'playwright-core';

/** What Lighthouse would look at first, read from the browser's own clock. */
export interface PageGrade {
  readonly first_paint_ms: number | null;
  readonly largest_paint_ms: number | null;
  /** How much what was drawn moved afterwards; good is up to 0.1. */
  readonly layout_shift: number;
  /** Of every task longer than 50 ms, what is beyond. */
  readonly blocking_ms: number;
  readonly elements: number;
  readonly requests: number;
  readonly transferred_kib: number;
}

/** A string, because it runs in the page. The browser reports nothing for events that never happened. */
const READ_GRADE = `(async () => {
  const entriesOf = (type) => new Promise((resolve) => {
    const observer = new PerformanceObserver((list) => {
      observer.disconnect();
      resolve(list.getEntries());
    });
    observer.observe({ type, buffered: true });
    setTimeout(() => resolve([]), 200);
  });
  const types = ['paint', 'largest-contentful-paint', 'layout-shift', 'longtask'];
  const [paints, largest, shifts, tasks] = await Promise.all(types.map(entriesOf));
  const fetched = performance.getEntriesByType('resource');
  const sum = (list, read) => list.reduce((all, each) => all + read(each), 0);
  const whole = (value) => value === undefined ? null : Math.round(value);
  const shift = sum(shifts.filter((each) => !each.hadRecentInput), (each) => each.value);
  return {
    first_paint_ms: whole(paints.find(({ name }) => name === 'first-contentful-paint')?.startTime),
    largest_paint_ms: whole(largest.at(-1)?.startTime),
    layout_shift: Math.round(shift * 1000) / 1000,
    blocking_ms: whole(sum(tasks, ({ duration }) => Math.max(0, duration - 50))),
    elements: document.querySelectorAll('*').length,
    requests: fetched.length,
    transferred_kib: whole(sum(fetched, ({ transferSize }) => transferSize) / 1024),
  };
})()`;

/** Live never rests: it reads every second. */
const REST_MS_MAX = 3_000;

export async function gradePage(page: Page, path: string, data: string): Promise<PageGrade> {
  await page.goto('about:blank');
  await page.goto(path);
  await page.locator(data).first().waitFor();
  await page.waitForLoadState('networkidle', { timeout: REST_MS_MAX }).catch(() => undefined);
  return (await page.evaluate(READ_GRADE)) as PageGrade;
}
