import type { Guardrail, GuardrailBinding, GuardrailPreset } from '@relay/contract';
import { GUARDRAIL_BYTES_DEFAULT } from '../../domain/guardrails/guardrail.ts';
import type { Preset } from '../../domain/guardrails/presets.ts';
import { ownerOf } from '../resources/ownership.ts';
import type { Row } from '../resources/rows.ts';

/** Never includes the secret, sealed or not: it is write-only. */
export function toGuardrail(row: Row<'guardrails'>, bindingCount: number): Guardrail {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    preset_slug: row.preset_slug,
    base_url: row.base_url,
    http_method: row.http_method,
    auth_mode: row.auth_mode,
    pre_dispatch_enabled: row.pre_dispatch_enabled,
    enabled: row.enabled,
    has_credential: row.sealed_secret !== null,
    binding_count: bindingCount,
    priority: row.priority,
    timeout_ms: row.timeout_ms,
    post_response_enabled: row.post_response_enabled,
    failure_mode: row.failure_mode,
    request_template: row.request_template as Guardrail['request_template'],
    response_rules: row.response_rules as Guardrail['response_rules'],
    secret_header_name: row.secret_header_name,
    max_request_bytes: row.max_request_bytes ?? GUARDRAIL_BYTES_DEFAULT,
    max_response_bytes: row.max_response_bytes ?? GUARDRAIL_BYTES_DEFAULT,
    ...ownerOf(row),
  };
}

export function toBinding(row: Row<'guardrail_bindings'>): GuardrailBinding {
  return {
    id: row.id,
    guardrail_id: row.guardrail_id,
    target_type: row.target_type,
    target_id: row.target_id,
    enabled: row.enabled,
    ...ownerOf(row),
  };
}

export function toPreset(preset: Preset): GuardrailPreset {
  return {
    ...preset,
    request_template: { ...preset.request_template },
    response_rules: preset.response_rules.map((rule) => ({ ...rule })),
  };
}
