import type { MeteredUsage } from '@relay/contract';
import { countWords } from '@relay/contract/words';
import type { Handlers } from '../../http/call.ts';
import { type MeteredRow, readMetered } from '../../store/ledger/rollups/read-metered.ts';
import { visibleUser } from '../requests/search.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { invalidField } from '../resources/refusals.ts';
import { wireCosts } from '../resources/wire-cost.ts';
import { rangeOf } from './range.ts';

const ROWS_MAX = 10_000;

/** What Relay metered, as a provider's bill has it: by time and upstream model. */
export function meteredHandlers(
  deps: Pick<ManagementDeps, 'ofOrganization' | 'clock'>,
): Pick<Handlers, 'getMeteredUsage'> {
  return {
    async getMeteredUsage({ caller, query }) {
      const { organizationId } = caller;
      const { bucket = 'day' } = query;
      const range = rangeOf(bucket, query, deps.clock.nowMs());
      const question = { organizationId, userId: visibleUser(caller), range, limit: ROWS_MAX + 1 };
      const rows = await readMetered(deps.ofOrganization(organizationId), question);
      if (rows.length > ROWS_MAX)
        throw invalidField(
          'from',
          `This time range has more than ${countWords(ROWS_MAX)} rows. Use a shorter one.`,
        );
      const [from, to] = [range.fromMs, range.toMs].map((ms) => new Date(ms).toISOString());
      return { bucket, from: from ?? '', to: to ?? '', rows: rows.map(toRow) };
    },
  };
}

function toRow({
  bucket_start,
  cost_picos,
  unpriced_requests: unpriced,
  ...sums
}: MeteredRow): MeteredUsage['rows'][number] {
  const costs = wireCosts({ cost: BigInt(cost_picos) }, { priced: sums.requests - unpriced, unpriced });
  return { ...sums, at: bucket_start.toISOString(), ...costs };
}
