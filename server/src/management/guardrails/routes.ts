import type { Guardrail } from '@relay/contract';
import type { Kysely } from 'kysely';
import { guardrailPresets } from '../../domain/guardrails/presets.ts';
import { demandStorable } from '../../domain/storable-fields.ts';
import type { Handlers } from '../../http/call.ts';
import type { Database, tables } from '../../store/postgres/schema.ts';
import { createRunningTests } from '../connection-tests/running-tests.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { listPresets } from '../resources/list-presets.ts';
import type { Row } from '../resources/rows.ts';
import { demandUsable, firstPlace, sealedSecret } from '../resources/sealed-secret.ts';
import { insertSlugged } from '../resources/slugged-insert.ts';
import type { ResourceWrites } from '../resources/write-resource.ts';
import { newColumns, patchOf, settingsOf } from './columns.ts';
import { listBindingsOf, readBindingCounts } from './queries.ts';
import { checkedGuardrailUrl, demandSettings } from './settings.ts';
import { guardrailStatsHandlers } from './stats.ts';
import { testGuardrail } from './test-guardrail.ts';
import { toBinding, toGuardrail, toPreset } from './wire.ts';

const TESTS_MAX = { inOrganization: 4, inProcess: 64 };

type GuardrailWrites = ResourceWrites<typeof tables.guardrails>;

export function guardrailHandlers(deps: ManagementDeps, writes: GuardrailWrites): Handlers {
  const limited = createRunningTests(TESTS_MAX);
  return {
    ...guardrailStatsHandlers(deps, (call) => writes.read(call, call.params.guardrail_id)),
    ...guardrailWriteHandlers(deps, writes),
    listGuardrailPresets: async (call) =>
      listPresets(call, 'listGuardrailPresets', guardrailPresets).map(toPreset),
    async listGuardrails(call) {
      const rows = await writes.list(call, 'listGuardrails');
      return toGuardrails(deps.ofOrganization(call.caller.organizationId), rows);
    },
    async getGuardrail(call) {
      const row = await writes.read(call, call.params.guardrail_id);
      const { organizationId } = call.caller;
      const bindings = await listBindingsOf(deps.ofOrganization(organizationId), organizationId, row.id);
      return { guardrail: toGuardrail(row, bindings.length), bindings: bindings.map(toBinding) };
    },
    async testGuardrail(call) {
      const row = await writes.read(call, call.params.guardrail_id);
      const { body, requestId } = call;
      return limited(row.organization_id, () => testGuardrail(deps, row, body, requestId));
    },
  };
}

function guardrailWriteHandlers(deps: ManagementDeps, writes: GuardrailWrites): Handlers {
  return {
    async createGuardrail(call) {
      const { body } = call;
      demandStorable(body);
      const settings = settingsOf(body);
      demandSettings(settings);
      if (typeof body.secret === 'string') demandUsable('secret', body.secret, settings.auth_mode);
      const baseUrl = checkedGuardrailUrl(deps.egress, body.base_url);
      const row = await writes.create(call, ({ tx, organizationId }, id) => {
        const secret =
          typeof body.secret === 'string'
            ? sealedSecret(deps.sealer, firstPlace(organizationId, id), body.secret)
            : {};
        const named = { name: body.name, fallback: 'guardrail' };
        return insertSlugged(tx, writes.rows, organizationId, named, (slug) => ({
          ...newColumns(body, settings),
          id,
          name: body.name,
          slug,
          base_url: baseUrl,
          ...secret,
        }));
      });
      return toGuardrail(row, 0);
    },
    async updateGuardrail(call) {
      const { body } = call;
      demandStorable(body);
      const row = await writes.update(call, call.params.guardrail_id, (_writing, before) => {
        if (typeof body.secret === 'string')
          demandUsable('secret', body.secret, body.auth_mode ?? before.auth_mode);
        return patchOf(deps, before, body);
      });
      return toOneGuardrail(deps, deps.ofOrganization(call.caller.organizationId), row);
    },
    deleteGuardrail: (call) => writes.remove(call, call.params.guardrail_id),
  };
}

export async function toOneGuardrail(
  _deps: ManagementDeps,
  db: Kysely<Database>,
  row: Row<'guardrails'>,
): Promise<Guardrail> {
  const [guardrail] = await toGuardrails(db, [row]);
  if (guardrail === undefined) throw new Error('one row became no guardrail');
  return guardrail;
}

async function toGuardrails(db: Kysely<Database>, rows: readonly Row<'guardrails'>[]): Promise<Guardrail[]> {
  const [first] = rows;
  if (first === undefined) return [];
  const { organization_id: organizationId } = first;
  const ids = rows.map(({ id }) => id);
  const counts = await readBindingCounts(db, organizationId, ids);
  return rows.map((row) => toGuardrail(row, counts.get(row.id) ?? 0));
}
