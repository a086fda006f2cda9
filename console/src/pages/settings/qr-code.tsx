import { generate } from 'lean-qr';
import { useMemo } from 'react';

/** The quiet zone that scanners require. */
const QUIET = 4;

/** A QR code, dark on light in both themes, because some scanners need that. */
export function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const { size, path } = useMemo(() => drawingOf(text), [text]);
  const whole = size + 2 * QUIET;
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`${-QUIET} ${-QUIET} ${whole} ${whole}`}
      shapeRendering="crispEdges"
      className="size-44 shrink-0 rounded-lg border bg-white"
    >
      <path d={path} className="fill-black" />
    </svg>
  );
}

/** One stroke for each dark run in a row. */
function drawingOf(text: string): { readonly size: number; readonly path: string } {
  const code = generate(text);
  let path = '';
  for (let y = 0; y < code.size; y += 1) {
    for (let x = 0; x < code.size; x += 1) {
      if (!code.get(x, y)) continue;
      let end = x + 1;
      while (code.get(end, y)) end += 1;
      path += `M${x} ${y}h${end - x}v1h${x - end}z`;
      x = end;
    }
  }
  return { size: code.size, path };
}
