import type { Guardrail, GuardrailCreate, GuardrailUpdate } from '@relay/contract';
import { GUARDRAIL_BYTES_DEFAULT } from '../../domain/guardrails/guardrail.ts';
import { guardrailPresets, PRESET_SLUG_DEFAULT } from '../../domain/guardrails/presets.ts';
import type { Handlers } from '../../http/call.ts';
import { createRunningTests } from '../connection-tests/running-tests.ts';
import { demandSendable, firstPlace, guardrailPlace, sealedSecret } from '../credentials/sealed-secret.ts';
import type { ManagementDeps } from '../deps.ts';
import type { Patch, Row } from '../owned-rows.ts';
import { listFound, listRows } from '../paging.ts';
import { demandRoom } from '../plan-counts.ts';
import { sameOrigin } from '../providers/address.ts';
import { conflict } from '../refusals.ts';
import { insertSlugged } from '../slugged-insert.ts';
import { demandStorable } from '../storable-body.ts';
import { resourceWrites } from '../write-resource.ts';
import { listPresets } from './list-presets.ts';
import { guardrailRows, listBindingsOf, readBindingCounts } from './queries.ts';
import { replaceBindings } from './replace-bindings.ts';
import { checkedGuardrailUrl, demandCredential, demandSettings, type Settings } from './settings.ts';
import { guardrailStatsHandlers } from './stats.ts';
import { testGuardrail } from './test-guardrail.ts';
import { toBinding, toGuardrail, toPreset } from './wire.ts';

const TESTS_MAX = { inOrganization: 4, inProcess: 64 };

export function guardrailHandlers(deps: ManagementDeps): Handlers {
  // Whatever an enabled guardrail has become, a request that comes after the answer meets it as it is now.
  const writes = resourceWrites(deps, guardrailRows, 'guardrail', ({ enabled }) => enabled);

  const limited = createRunningTests(TESTS_MAX);

  async function toWire(rows: readonly Row<'guardrails'>[], organizationId: string): Promise<Guardrail[]> {
    const ids = rows.map(({ id }) => id);
    const counts = await readBindingCounts(deps.ofOrganization(organizationId), organizationId, ids);
    return rows.map((row) => toGuardrail(row, counts.get(row.id) ?? 0));
  }

  async function oneToWire(row: Row<'guardrails'>): Promise<Guardrail> {
    const [guardrail] = await toWire([row], row.organization_id);
    if (guardrail === undefined) throw new Error('one row became no guardrail');
    return guardrail;
  }

  return {
    ...guardrailStatsHandlers(deps, (call) => writes.read(call, call.params.guardrail_id)),
    listGuardrailPresets: async (call) => listPresets(call, guardrailPresets).map(toPreset),
    async listGuardrails(call) {
      const rows = await listRows(deps, call, 'listGuardrails', guardrailRows);
      return toWire(rows, call.caller.organizationId);
    },
    async getGuardrail(call) {
      const row = await writes.read(call, call.params.guardrail_id);
      const { organizationId } = call.caller;
      const bindings = await listBindingsOf(deps.ofOrganization(organizationId), organizationId, row.id);
      return { guardrail: toGuardrail(row, bindings.length), bindings: bindings.map(toBinding) };
    },
    async createGuardrail(call) {
      const { body } = call;
      const { organizationId } = call.caller;
      demandStorable(body);
      const settings = settingsOf(body);
      demandSettings(settings);
      if (typeof body.secret === 'string') demandSendable('secret', body.secret);
      const baseUrl = checkedGuardrailUrl(deps.egress, body.base_url);
      const row = await writes.create(call, async (tx, id) => {
        await demandRoom(tx, organizationId, 'guardrails');
        const secret =
          typeof body.secret === 'string'
            ? sealedSecret(deps.sealer, firstPlace(organizationId, id), body.secret)
            : {};
        const fields = { ...plainColumns(body), ...columnsOf(settings) };
        return insertSlugged(tx, guardrailRows, organizationId, {
          name: body.name,
          fallback: 'guardrail',
          row: { ...fields, id, base_url: baseUrl, enabled: false, ...sizesOf(body), ...secret },
        });
      });
      return toGuardrail(row, 0);
    },
    async updateGuardrail(call) {
      const { body } = call;
      demandStorable(body);
      if (typeof body.secret === 'string') demandSendable('secret', body.secret);
      const row = await writes.update(call, call.params.guardrail_id, (_tx, before) =>
        patchOf(deps, before, body),
      );
      return oneToWire(row);
    },
    deleteGuardrail: (call) => writes.remove(call, call.params.guardrail_id),
    async listGuardrailBindings(call) {
      const { organizationId } = call.caller;
      const { id } = await writes.read(call, call.params.guardrail_id);
      const db = deps.ofOrganization(organizationId);
      const rows = await listFound(call, 'listGuardrailBindings', (range) =>
        listBindingsOf(db, organizationId, id, range),
      );
      return rows.map(toBinding);
    },
    async replaceGuardrailBindings(call) {
      return (await replaceBindings(deps, call, call.params.guardrail_id, call.body)).map(toBinding);
    },
    async testGuardrail(call) {
      const row = await writes.read(call, call.params.guardrail_id);
      const { body, requestId } = call;
      return limited(row.organization_id, () => testGuardrail(deps, row, body, requestId));
    },
  };
}

function settingsOf(body: GuardrailCreate): Settings {
  return {
    preset_slug: body.preset_slug ?? PRESET_SLUG_DEFAULT,
    auth_mode: body.auth_mode ?? 'none',
    secret_header_name: body.secret_header_name ?? null,
    pre_dispatch_enabled: body.pre_dispatch_enabled ?? true,
    request_template: body.request_template ?? null,
    response_rules: body.response_rules ?? null,
    enabled: false,
  };
}

/** The settings as they will be, whichever of them the body names. */
function settingsAfter(before: Row<'guardrails'>, body: GuardrailUpdate): Settings {
  const { request_template, response_rules, secret_header_name } = body;
  const stored = toGuardrail(before, 0);
  return {
    preset_slug: body.preset_slug ?? before.preset_slug,
    auth_mode: body.auth_mode ?? before.auth_mode,
    secret_header_name: secret_header_name === undefined ? before.secret_header_name : secret_header_name,
    pre_dispatch_enabled: body.pre_dispatch_enabled ?? before.pre_dispatch_enabled,
    request_template: request_template === undefined ? stored.request_template : request_template,
    response_rules: response_rules === undefined ? stored.response_rules : response_rules,
    enabled: body.enabled ?? before.enabled,
  };
}

function patchOf(
  deps: ManagementDeps,
  before: Row<'guardrails'>,
  body: GuardrailUpdate,
): Patch<'guardrails'> {
  const settings = settingsAfter(before, body);
  demandSettings(settings);
  const { secret } = body;
  demandCredential(settings, secret === undefined ? before.sealed_secret !== null : secret !== null);
  const baseUrl = body.base_url === undefined ? undefined : checkedGuardrailUrl(deps.egress, body.base_url);
  if (baseUrl !== undefined && secret === undefined) demandOriginKept(before, baseUrl);
  return {
    ...plainColumns(body),
    ...columnsOf(settings),
    name: body.name,
    base_url: baseUrl,
    max_request_bytes: body.max_request_bytes,
    max_response_bytes: body.max_response_bytes,
    ...secretColumns(deps, before, secret),
  };
}

/** A secret was entered for one origin and is never sent to another; entered anew in the same call, it is for the new one. */
function demandOriginKept(before: Row<'guardrails'>, baseUrl: string): void {
  if (before.sealed_secret === null || sameOrigin(originOf(before.base_url), originOf(baseUrl))) return;
  throw conflict(
    'base_url',
    'base_url moves to another origin, and the stored credential was given for the old one. Send secret along, or null to remove it.',
  );
}

function originOf(baseUrl: string): string {
  return new URL(baseUrl).origin;
}

function secretColumns(
  { sealer }: Pick<ManagementDeps, 'sealer'>,
  before: Row<'guardrails'>,
  secret: string | null | undefined,
): Patch<'guardrails'> {
  if (secret === undefined) return {};
  const secretVersion = before.secret_version + 1;
  if (secret === null) return { sealed_secret: null, key_id: null, secret_version: secretVersion };
  return sealedSecret(sealer, guardrailPlace(before, secretVersion), secret);
}

function plainColumns(body: GuardrailCreate | GuardrailUpdate) {
  return {
    http_method: body.http_method,
    priority: body.priority,
    timeout_ms: body.timeout_ms,
    post_response_enabled: body.post_response_enabled,
    failure_mode: body.failure_mode,
  };
}

function sizesOf(body: GuardrailCreate) {
  return {
    max_request_bytes: body.max_request_bytes ?? GUARDRAIL_BYTES_DEFAULT,
    max_response_bytes: body.max_response_bytes ?? GUARDRAIL_BYTES_DEFAULT,
  };
}

/** PostgreSQL's driver takes an array for an array of its own, so JSON goes in as text. */
function columnsOf({ request_template, response_rules, ...settings }: Settings) {
  return {
    ...settings,
    request_template: request_template === null ? null : JSON.stringify(request_template),
    response_rules: response_rules === null ? null : JSON.stringify(response_rules),
  };
}
