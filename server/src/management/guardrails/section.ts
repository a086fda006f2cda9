import { type ConfigGuardrail, guardrailResource } from '@relay/contract';
import { GUARDRAIL_BYTES_DEFAULT } from '../../domain/guardrails/guardrail.ts';
import { PRESET_SLUG_DEFAULT } from '../../domain/guardrails/presets.ts';
import { demandStorable } from '../../domain/storable-fields.ts';
import { authStyles } from '../../domain/upstream-auth.ts';
import type { tables } from '../../store/postgres/schema.ts';
import { demandSlug } from '../resources/item-slug.ts';
import { invalidField } from '../resources/refusals.ts';
import { firstPlace } from '../resources/sealed-secret.ts';
import { withGuardrailRefs } from '../resources/secret-refs.ts';
import type { SectionOf } from '../resources/section.ts';
import { placeOf } from './secret-place.ts';
import { checkedGuardrailUrl, demandSettings } from './settings.ts';
import { toGuardrail } from './wire.ts';

/**
 * The secret is not a field of the item: an apply seals the secret that `secret_ref` points to separately.
 */
export const guardrailSection: SectionOf<ConfigGuardrail, typeof tables.guardrails> = {
  announced: guardrailResource.section,
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
    if (authStyles[entry.auth_mode].needsSecret && entry.secret_ref === null) {
      throw invalidField('secret_ref', `secret_ref is required with auth_mode ${entry.auth_mode}.`);
    }
    return { ...entry, base_url: checkedGuardrailUrl(egress, entry.base_url) };
  },
  columnsOf: ({ request_template, response_rules, ...settings }) => ({
    ...settings,
    request_template: request_template === null ? null : JSON.stringify(request_template),
    response_rules: response_rules === null ? null : JSON.stringify(response_rules),
  }),
  completed: withGuardrailRefs,
  secret: {
    firstPlace: (organizationId, id) => firstPlace(organizationId, id),
    storedIn: (row) => ({ sealed: row.sealed_secret, place: placeOf(row) }),
  },
};
