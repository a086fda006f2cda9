import type { Guardrail } from '@relay/contract';
import { guardrailPresets, presetOf } from '../../domain/guardrails/presets.ts';
import { checkRules } from '../../domain/guardrails/rules.ts';
import { checkTemplate } from '../../domain/guardrails/template.ts';
import { parseGuardrailUrl, withoutQuery } from '../../domain/guardrails/url.ts';
import { demandStorableText } from '../../domain/storable-fields.ts';
import { authStyles } from '../../domain/upstream-auth.ts';
import type { Egress } from '../../kit/egress/index.ts';
import { targetUrlProblems } from '../../kit/egress/target-url.ts';
import { invalidField } from '../resources/refusals.ts';
import { demandAuthHeader } from '../resources/upstream-address.ts';

/** Settings that depend on each other, checked together even if a write changes only one. */
export type Settings = Pick<
  Guardrail,
  | 'preset_slug'
  | 'auth_mode'
  | 'secret_header_name'
  | 'pre_dispatch_enabled'
  | 'request_template'
  | 'response_rules'
  | 'enabled'
>;

/** Throws 400, naming the field, for settings with which a guardrail cannot work. */
export function demandSettings(settings: Settings): void {
  demandAuthHeader(settings.auth_mode, settings.secret_header_name, 'secret_header_name');
  if (presetOf(settings.preset_slug) === undefined) {
    const known = guardrailPresets.map(({ slug }) => slug).join(', ');
    throw invalidField('preset_slug', `preset_slug is not a known preset. Send one of ${known}.`);
  }
  if (settings.request_template !== null) demandTemplate(settings.request_template);
  if (settings.response_rules !== null) demandRules(settings.response_rules, settings);
}

/**
 * An enabled guardrail without its credential would fail on every call: it would reject all requests, or let
 * all pass unchecked.
 */
export function demandCredential({ enabled, auth_mode }: Settings, hasCredential: boolean): void {
  if (!enabled || hasCredential || !authStyles[auth_mode].needsSecret) return;
  throw invalidField(
    'secret',
    `auth_mode ${auth_mode} needs a stored credential while the guardrail is enabled. Send secret, or set auth_mode to "none".`,
  );
}

function demandTemplate(template: NonNullable<Settings['request_template']>): void {
  demandStorableJson('request_template', template);
  const problem = checkTemplate(template);
  if (problem !== null) throw refused(`request_template${problem.param}`, problem.message);
}

function demandRules(
  rules: NonNullable<Settings['response_rules']>,
  { pre_dispatch_enabled }: Pick<Settings, 'pre_dispatch_enabled'>,
): void {
  demandStorableJson('response_rules', rules);
  const problem = checkRules(rules, { preDispatch: pre_dispatch_enabled });
  if (problem !== null) throw refused(`response_rules${problem.param}`, problem.message);
}

function refused(param: string, message: string) {
  return invalidField(param, `${param} ${message}.`);
}

/** Returns the URL as it is stored. Relay calls exactly this URL, so nothing is stripped. */
export function checkedGuardrailUrl(egress: Pick<Egress, 'check'>, baseUrl: string): string {
  const target = egress.check(withoutQuery(baseUrl));
  if (typeof target === 'string') throw invalidField('base_url', `base_url ${targetUrlProblems[target]}.`);
  const url = parseGuardrailUrl(baseUrl);
  if (url === 'invalid') {
    throw invalidField(
      'base_url',
      'base_url must not contain a fragment, and its query must contain only plain names and values, such as ?api-version=2024-09-01.',
    );
  }
  return url.origin + url.path;
}

/** PostgreSQL's jsonb cannot store NUL or unpaired surrogates, at any depth. */
function demandStorableJson(param: string, value: unknown): void {
  if (typeof value === 'string') demandStorableText(param, value);
  if (typeof value !== 'object' || value === null) return;
  for (const [name, each] of Object.entries(value)) {
    demandStorableJson(param, name);
    demandStorableJson(param, each);
  }
}
