import type { Selectable } from 'kysely';
import { GUARDRAIL_BYTES_DEFAULT, type Guardrail } from '../../domain/guardrails/guardrail.ts';
import { PRESET_SLUG_DEFAULT, presetOf } from '../../domain/guardrails/presets.ts';
import type { Secret } from '../../kit/secret.ts';
import type { Database } from '../postgres/schema.ts';

export type GuardrailRow = Selectable<Database['guardrails']>;

/** A guardrail as Relay calls it, in requests and in tests. Its preset provides what it does not set. */
export function guardrailSettings(row: GuardrailRow, secret: Secret | null): Omit<Guardrail, 'bindings'> {
  // An unknown preset gets the default's template and no rules. Its responses are then never understood, and the failure
  // mode applies.
  const preset = presetOf(row.preset_slug);
  const template = row.request_template ?? (preset ?? presetOf(PRESET_SLUG_DEFAULT))?.request_template;
  const rules = row.response_rules ?? preset?.response_rules;
  return {
    id: row.id,
    slug: row.slug,
    priority: row.priority,
    baseUrl: row.base_url,
    httpMethod: row.http_method,
    authMode: row.auth_mode,
    secretHeaderName: row.secret_header_name,
    secret,
    timeoutMs: row.timeout_ms,
    preDispatch: row.pre_dispatch_enabled,
    postResponse: row.post_response_enabled,
    failureMode: row.failure_mode,
    template: template ?? {},
    rules: rules ?? [],
    maxRequestBytes: row.max_request_bytes ?? GUARDRAIL_BYTES_DEFAULT,
    maxResponseBytes: row.max_response_bytes ?? GUARDRAIL_BYTES_DEFAULT,
  };
}
