import { storeUnavailable } from '../../store/store-error.ts';
import type { Epochs } from './epochs.ts';
import type { ScriptName, Scripts } from './scripts.ts';

/** How the reply of a script begins that does not believe the state it found. */
const REFUSED = 'EPOCH ';

/** Scripts that change nothing. A process that was idle while Redis lost its state learns of that from the first of them. */
const READS: ReadonlySet<ScriptName> = new Set(['usage', 'in-flight', 'next-slots']);

/** Scripts that work on a state of the epoch that this process knows, and on none that is older than what it has seen. */
export function createFencedScripts(scripts: Scripts, epochs: Epochs): Scripts {
  async function refusable(
    name: ScriptName,
    prefix: string,
    args: readonly string[],
    isAgain: boolean,
  ): Promise<unknown> {
    const known = epochs.seen(prefix);
    const { epoch, sequence } = known instanceof Promise ? await known : known;
    const fenced = args.with(0, `${args[0]} ${epoch} ${sequence}`);
    const told = (reached: number) => epochs.saw(prefix, epoch, reached);
    return scripts.run(name, prefix, fenced, told).catch((error: unknown) => {
      if (!(error instanceof Error && error.message.startsWith(REFUSED))) throw error;
      epochs.refused(prefix, epoch);
      if (isAgain || !READS.has(name)) throw storeUnavailable('redis', error);
      return epochs.reopened(prefix).then(() => refusable(name, prefix, args, true));
    });
  }

  return { ...scripts, run: (name, prefix, args) => refusable(name, prefix, args, false) };
}
