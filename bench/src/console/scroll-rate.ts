import type { Page } from 'playwright-core';

const SECONDS = 10;
const PIXELS_PER_FRAME = 90;

export interface ScrollRate {
  /** Of each second. */
  readonly framesPerSecond: readonly number[];
  /** How far it came, in rows. */
  readonly scrolledRows: number;
}

/** A string, because it runs in the page. */
const SCROLL = `(async () => {
  const frames = [];
  const startMs = performance.now();
  await new Promise((resolve) => {
    const step = () => {
      const elapsedMs = performance.now() - startMs;
      frames.push(elapsedMs);
      window.scrollBy(0, ${PIXELS_PER_FRAME});
      if (elapsedMs < ${SECONDS * 1_000}) requestAnimationFrame(step);
      else resolve();
    };
    requestAnimationFrame(step);
  });
  const framesPerSecond = Array.from(
    { length: ${SECONDS} },
    (_, second) => frames.filter((ms) => Math.floor(ms / 1000) === second).length,
  );
  const row = document.querySelector('main tr[data-row]');
  return { framesPerSecond, scrolledRows: Math.round(window.scrollY / row.getBoundingClientRect().height) };
})()`;

/** Scrolls a list at a steady pace and counts the frames drawn meanwhile. */
export async function scrollRate(page: Page): Promise<ScrollRate> {
  return (await page.evaluate(SCROLL)) as ScrollRate;
}
