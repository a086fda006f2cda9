import type { EpochDeps } from '../../admission/redis/epochs.ts';
import { prefixOf } from '../../store/redis/shards.ts';
import type { Deployment } from './deployment.fixture.ts';
import type { Link } from './network.fixture.ts';

/** As `epoch-parts.ts` does it, over the process's own connection. */
export function epochParts(
  { ledger, world, log }: Deployment,
  link: Link,
  restarted: EpochDeps['restarted'],
): EpochDeps {
  const all = [...world.organizations.keys()];
  return {
    store: ledger.epochs(link),
    organizations: (prefix) =>
      link.call(`organizations of ${prefix}`, () => all.filter((id) => prefixOf(id) === prefix)),
    restarted,
    // One deployment: no other could start the same epoch.
    random: () => 0,
    demandOwn: () => Promise.resolve(),
    log,
  };
}

export function prefixesOf({ world }: Pick<Deployment, 'world'>): string[] {
  return [...new Set([...world.organizations.keys()].map(prefixOf))];
}
