import { say } from './command-line.ts';
import { startGateways } from './overhead/gateways.ts';
import { type Figures, measurePart } from './overhead/measure-parts.ts';
import { readSettings } from './overhead/settings.ts';
import { pinToLoadCore } from './pinned-process.ts';

/** The figures that the bench always prints; a part that did not run leaves its own null. */
const MAIN_FIGURES: Readonly<Figures> = {
  bare_us: null,
  relay_us: null,
  cpu_ratio_bare: null,
  cpu_ratio_portkey: null,
  policies_ratio_bare_with_calls: null,
  stream_ratio_bare: null,
  added_p50_ms: null,
  big_body_ratio: null,
};

/** Starts everything, measures part by part, and stops everything however it ends. */
export async function overhead(args: readonly string[]): Promise<Figures> {
  const settings = readSettings(args);
  pinToLoadCore();
  const gateways = await startGateways(settings);
  try {
    const figures = { ...MAIN_FIGURES };
    for (const part of settings.parts) {
      say(`${part}: ${settings.slices} rounds of ${settings.sliceMs} ms`);
      Object.assign(figures, await measurePart[part](gateways, settings));
    }
    return figures;
  } finally {
    await gateways.stop();
  }
}
