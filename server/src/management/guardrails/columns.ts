import type { GuardrailCreate, GuardrailUpdate } from '@relay/contract';
import { GUARDRAIL_BYTES_DEFAULT } from '../../domain/guardrails/guardrail.ts';
import { PRESET_SLUG_DEFAULT } from '../../domain/guardrails/presets.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { conflict } from '../resources/refusals.ts';
import type { Patch, Row } from '../resources/rows.ts';
import { nextPlace, sealedSecret } from '../resources/sealed-secret.ts';
import { sameOrigin } from '../resources/upstream-address.ts';
import { placeOf } from './secret-place.ts';
import { checkedGuardrailUrl, demandCredential, demandSettings, type Settings } from './settings.ts';
import { toGuardrail } from './wire.ts';

export function settingsOf(body: GuardrailCreate): Settings {
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

/** The stored settings with the changes of the body. */
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

export function patchOf(
  deps: Pick<ManagementDeps, 'egress' | 'sealer'>,
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

/**
 * Throws 409 when a stored secret would be sent to another origin than it was entered for. Not called when the
 * body replaces or removes the secret.
 */
function demandOriginKept(before: Row<'guardrails'>, baseUrl: string): void {
  if (before.sealed_secret === null || sameOrigin(originOf(before.base_url), originOf(baseUrl))) return;
  throw conflict(
    'base_url',
    'base_url changes to another origin, but the stored credential belongs to the old one. Also send secret, or null to remove the credential.',
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
  if (secret === null)
    return { sealed_secret: null, key_id: null, secret_version: before.secret_version + 1 };
  return sealedSecret(sealer, nextPlace(placeOf(before)), secret);
}

/** The columns of a new guardrail, which is disabled. */
export function newColumns(body: GuardrailCreate, settings: Settings) {
  return { ...plainColumns(body), ...columnsOf(settings), ...sizesOf(body), enabled: false };
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

/** The PostgreSQL driver would turn a JavaScript array into a PostgreSQL array, so JSON is sent as text. */
function columnsOf({ request_template, response_rules, ...settings }: Settings) {
  return {
    ...settings,
    request_template: request_template === null ? null : JSON.stringify(request_template),
    response_rules: response_rules === null ? null : JSON.stringify(response_rules),
  };
}
