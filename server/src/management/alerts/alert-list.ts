import type { Handlers } from '../../http/call.ts';
import { cursorOfIds, idOfCursor } from '../resources/cursor.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { isId } from '../resources/refusals.ts';
import { readAlerts, readDeliveries } from './queries.ts';
import { toAlert } from './wire.ts';

const PAGE_DEFAULT = 50;

export function alertListHandlers(deps: Pick<ManagementDeps, 'ofOrganization'>): Handlers {
  return {
    async listAlerts(call) {
      const { organizationId } = call.caller;
      const { policy_id: policyId, cursor, limit = PAGE_DEFAULT } = call.query;
      const list = { route: 'listAlerts', organizationId } as const;
      const db = deps.ofOrganization(organizationId);
      const beforeId = cursor === undefined ? undefined : idOfCursor(list, cursor);
      const search = { organizationId, policyId, beforeId, limit: limit + 1 };
      // Text that is not an ID matches no alert.
      const found = policyId !== undefined && !isId(policyId) ? [] : await readAlerts(db, search);
      const page = found.slice(0, limit);
      const ids = page.map(({ id }) => id);
      const deliveries = ids.length === 0 ? [] : await readDeliveries(db, organizationId, ids);
      const last = found.length > limit ? page.at(-1) : undefined;
      return {
        data: page.map((row) =>
          toAlert(
            row,
            deliveries.filter(({ event_id }) => event_id === row.id),
          ),
        ),
        next_cursor: last === undefined ? null : cursorOfIds(list, last.id),
      };
    },
  };
}
