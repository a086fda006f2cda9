/**
 * A row that is read again every second keeps the height it once needed, so that what comes and goes in it does not move
 * the rows below. It starts over when its width changes.
 */
export function keepHeight(row: HTMLElement | null): (() => void) | undefined {
  if (row === null) return undefined;
  let widthPx = 0;
  let keptPx = 0;
  const observer = new ResizeObserver(() => {
    if (row.offsetWidth !== widthPx) {
      widthPx = row.offsetWidth;
      keptPx = 0;
      row.style.minHeight = '';
    }
    if (row.offsetHeight <= keptPx) return;
    keptPx = row.offsetHeight;
    row.style.minHeight = `${keptPx}px`;
  });
  observer.observe(row);
  return () => observer.disconnect();
}
