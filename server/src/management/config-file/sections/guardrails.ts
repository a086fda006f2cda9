import { ConfigGuardrail } from '@relay/contract';
import { GUARDRAIL_BYTES_DEFAULT } from '../../../domain/guardrails/guardrail.ts';
import { PRESET_SLUG_DEFAULT } from '../../../domain/guardrails/presets.ts';
import { checkedGuardrailUrl, demandSettings } from '../../guardrails/settings.ts';
import { toGuardrail } from '../../guardrails/wire.ts';
import { invalidField } from '../../refusals.ts';
import { demandStorable } from '../../storable-body.ts';
import { demandSlug } from '../item-slug.ts';
import { withGuardrailRefs } from '../secret-refs.ts';
import { defineSection } from './section.ts';

/** The secret is no field of it: what an apply carries for `secret_ref` is sealed apart. */
export const guardrailSection = defineSection<ConfigGuardrail, 'guardrails'>({
  name: 'guardrails',
  kind: 'guardrail',
  table: 'guardrails',
  schema: ConfigGuardrail,
  defaults: {
    preset_slug: PRESET_SLUG_DEFAULT,
    http_method: 'POST',
    auth_mode: 'none',
    pre_dispatch_enabled: true,
    priority: 100,
    timeout_ms: 5_000,
    post_response_enabled: false,
    failure_mode: 'fail_closed',
    request_template: null,
    response_rules: null,
    secret_header_name: null,
    max_request_bytes: GUARDRAIL_BYTES_DEFAULT,
    max_response_bytes: GUARDRAIL_BYTES_DEFAULT,
    enabled: false,
    secret_ref: null,
  },
  keyOf: ({ slug }) => slug,
  entryOf(row) {
    const { id: _, has_credential: _h, binding_count: _b, managed_by: _m, ...said } = toGuardrail(row, 0);
    return { ...said, secret_ref: row.secret_ref };
  },
  checked(entry, { egress }) {
    demandStorable(entry);
    demandSlug(entry.slug);
    demandSettings(entry);
    if (entry.auth_mode !== 'none' && entry.secret_ref === null) {
      throw invalidField('secret_ref', `secret_ref is needed with auth_mode ${entry.auth_mode}.`);
    }
    return { ...entry, base_url: checkedGuardrailUrl(egress, entry.base_url) };
  },
  columnsOf: ({ request_template, response_rules, ...settings }) => ({
    ...settings,
    request_template: request_template === null ? null : JSON.stringify(request_template),
    response_rules: response_rules === null ? null : JSON.stringify(response_rules),
  }),
  completed: withGuardrailRefs,
});
