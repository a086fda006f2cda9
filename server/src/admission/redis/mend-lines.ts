import type { SetAside } from '../../kit/set-aside.ts';
import type { ScriptName, Scripts } from './scripts.ts';

/** Of a script that stumbled over what it read. A server that is full, read-only or away answers otherwise. */
const STUMBLED = /^(?:ERR )?(?:user_script|user_function)|^WRONGTYPE/;

export interface MendedScripts {
  /** Runs a script that reads the lines of these organizations. One that cannot be read is dropped, and the script is run once more. */
  run(
    name: ScriptName,
    prefix: string,
    organizationIds: readonly string[],
    args: readonly string[],
  ): Promise<unknown>;
  /** Forgets a line. Those who waited in it have no lease then and ask again. Answers whether there was one. */
  drop(prefix: string, organizationId: string, why: string): Promise<boolean>;
}

/** One damaged record of a line would fail every call of its organization for as long as it is there. */
export function mendLines(deps: {
  readonly scripts: Scripts;
  readonly time: () => string;
  readonly aside: Pick<SetAside, 'note'>;
  readonly dropped: (prefix: string) => void;
}): MendedScripts {
  const { scripts, time, aside } = deps;

  async function drop(prefix: string, organizationId: string, why: string): Promise<boolean> {
    const waited = Number(await scripts.run('drop-line', prefix, [time(), organizationId]));
    if (waited < 0) return false;
    const about = { organization_id: organizationId, waited, why };
    aside.note('line', about, 'dropped an unreadable queue; its requests queue again');
    deps.dropped(prefix);
    return true;
  }

  return {
    drop,
    async run(name, prefix, organizationIds, args) {
      try {
        return await scripts.run(name, prefix, args);
      } catch (error) {
        if (!(error instanceof Error && STUMBLED.test(error.message))) throw error;
        const had = await Promise.all(organizationIds.map((id) => drop(prefix, id, error.message)));
        if (!had.includes(true)) throw error;
        return scripts.run(name, prefix, args);
      }
    },
  };
}
