import { buildPackage } from './checkouts/build-package.ts';
import { say } from './command-line.ts';
import { demandQuietCore, watchCore } from './core-watch.ts';
import { ROOT } from './gateways/gateway.ts';
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
  cpu_ratio_policies: null,
  added_p50_ms_policies: null,
  portkey_ratio_policies: null,
};

/** Starts everything, measures part by part, and stops everything however it ends. Refuses figures of a busy core, except in a smoke run. */
export async function overhead(args: readonly string[]): Promise<Figures> {
  const settings = readSettings(args);
  pinToLoadCore();
  if (settings.build) for (const root of [ROOT, settings.against]) if (root !== undefined) await build(root);
  if (!settings.short) await demandQuietCore();
  const gateways = await startGateways(settings);
  try {
    const figures = { ...MAIN_FIGURES };
    for (const part of settings.parts) {
      say(`${part}: ${settings.slices} rounds`);
      const watch = watchCore(gateways.pids);
      const measured = await measurePart[part](gateways, settings);
      if (!settings.short) watch.demandQuiet(measured.othersShare, part);
      Object.assign(figures, measured.figures);
    }
    return figures;
  } finally {
    await gateways.stop();
  }
}

async function build(root: string): Promise<void> {
  say(`builds the package of ${root}`);
  await buildPackage(root);
}
