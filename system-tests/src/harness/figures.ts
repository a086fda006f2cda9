import { writeFileSync } from 'node:fs';

/** Figures a suite measured; the runner prints them as one JSON object on its last line. */
export function reportFigures(figures: Readonly<Record<string, unknown>>): void {
  const file = process.env['RELAY_FIGURES_FILE'];
  if (file === undefined) process.stdout.write(`${JSON.stringify(figures)}\n`);
  else writeFileSync(file, JSON.stringify(figures));
}
