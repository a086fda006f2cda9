import { formatBytes, formatCount, formatDuration, formatMoney } from '../format/numbers.ts';
import { shortId } from '../format/short-id.ts';
import { formatExactTime } from '../format/times.ts';
import { isObject } from '../format/values.ts';
import { text } from '../text/index.ts';
import { plainValue } from '../ui/field-changes.ts';

const words = text.fields;
const { endpoints, providers, guardrails, limits, keys } = text;
type Words = Readonly<Record<string, string>>;

/** The API's fields by the words of the forms that write them. */
const NAMES: Words = {
  ...text.lanes.editor.fields,
  slug: words.slug,
  managed_by: words.managedBy,
  preset_slug: words.preset,
  secret_version: words.credential,
  base_url: providers.baseUrl,
  auth_mode: providers.authMode,
  auth_header_name: providers.authHeader,
  aws_region: providers.awsRegion,
  aws_service: providers.awsService,
  extra_headers: providers.extraHeaders,
  extra_query: providers.extraQuery,
  max_latency_ms: providers.latencyMax,
  health_probe: providers.probe,
  provider_id: endpoints.provider,
  credential_id: endpoints.credential,
  endpoint_id: limits.scopes.endpoint,
  lane_id: limits.scopes.lane,
  upstream_model: endpoints.model,
  route_kind: endpoints.kind,
  protocol: endpoints.protocol,
  supports_streaming: endpoints.streaming,
  pacing: endpoints.pacing,
  max_concurrency: endpoints.concurrency,
  context_window: endpoints.context,
  manual_rank: words.rank,
  rank: words.rank,
  limit_value: limits.form.value,
  metric: limits.form.metric,
  period: limits.form.period,
  enforcement: limits.form.enforcement,
  unpriced: limits.form.unpriced,
  scope_type: limits.form.scope,
  target_type: limits.form.scope,
  alert_at: words.alertAt,
  alert_on_forecast: words.alertOnForecast,
  user_id: limits.subjects.user,
  api_key_id: limits.subjects.api_key,
  team_id: words.team,
  parent_id: words.parent,
  guardrail_id: text.pages.guardrails,
  expires_at: keys.expires,
  revoked_at: words.revoked,
  scopes: keys.scopes,
  labels: words.labels,
  role: text.members.role,
  email: words.email,
  status: words.status,
  kind: text.alerts.form.kind,
  url: text.alerts.form.url,
  address: text.alerts.form.address,
  currency: words.currency,
  input_cost_micros_per_1m_tokens: endpoints.prices.input,
  output_cost_micros_per_1m_tokens: endpoints.prices.output,
  cached_input_cost_micros_per_1m_tokens: endpoints.prices.cachedInput,
  cache_write_5m_cost_micros_per_1m_tokens: endpoints.prices.parts.cacheWrite5m,
  cache_write_1h_cost_micros_per_1m_tokens: endpoints.prices.parts.cacheWrite1h,
  reasoning_cost_micros_per_1m_tokens: endpoints.prices.parts.reasoning,
  audio_input_cost_micros_per_1m_tokens: endpoints.prices.parts.audioInput,
  audio_output_cost_micros_per_1m_tokens: endpoints.prices.parts.audioOutput,
  image_input_cost_micros_per_1m_tokens: endpoints.prices.parts.imageInput,
  image_output_cost_micros_per_1m_tokens: endpoints.prices.parts.imageOutput,
  flat_request_cost_micros: endpoints.prices.flat,
  source: endpoints.prices.source,
  as_of: endpoints.prices.asOf,
};

/** Where one kind of resource has another word for a field. */
const NAMES_OF: Readonly<Record<string, Words>> = {
  guardrail: {
    bindings: words.boundTo,
    base_url: guardrails.form.address,
    http_method: guardrails.form.method,
    secret_header_name: guardrails.form.authHeader,
    pre_dispatch_enabled: guardrails.form.before,
    post_response_enabled: guardrails.form.after,
    failure_mode: guardrails.form.failure,
    timeout_ms: guardrails.form.timeout,
    priority: guardrails.form.priority,
    request_template: guardrails.form.template,
    response_rules: guardrails.form.rules,
    max_request_bytes: guardrails.form.requestBytes,
    max_response_bytes: guardrails.form.responseBytes,
  },
  guardrail_binding: { target_type: words.boundTo },
};

/** Values with a word of their own; others are shown by their unit. */
const VALUES: Readonly<Record<string, Words>> = {
  selection: text.lanes.editor.selections,
  priority: text.lanes.editor.priorities,
  failure_mode: guardrails.failures,
  auth_mode: providers.authModes,
  health_probe: providers.probes,
  route_kind: endpoints.kinds,
  protocol: endpoints.protocols,
  metric: limits.metricNames,
  period: limits.periodNames,
  enforcement: limits.form.enforcements,
  unpriced: limits.form.unpricedRules,
  scope_type: limits.scopes,
  target_type: limits.scopes,
  managed_by: { file: words.file, console: words.console },
  role: Object.fromEntries(Object.entries(text.members.roles).map(([role, { name }]) => [role, name])),
};

/** The word of the forms for a field; the API's name where no form has it. */
export function fieldName(field: string, type?: string): string {
  return NAMES_OF[type ?? '']?.[field] ?? NAMES[field] ?? field;
}

interface Surroundings {
  /** The other fields of the resource: a spend limit's value is money. */
  readonly state?: unknown;
  /** The name of the resource with this ID, if known. */
  readonly nameOf?: (id: string) => string | undefined;
}

/** A value in the units of the forms: "5 s", "$40.00", "yes". */
export function fieldValue(field: string, value: unknown, { state, nameOf }: Surroundings = {}): string {
  if (value === null || value === undefined || value === '') return words.none;
  if (typeof value === 'boolean') return value ? words.yes : words.no;
  if (typeof value === 'number') return numberWords(field, value, state);
  if (Array.isArray(value)) return listWords(field, value, nameOf);
  if (typeof value !== 'string') return plainValue(value);
  const word = VALUES[field]?.[value];
  if (word !== undefined) return word;
  if (field.endsWith('_id') || field.endsWith('_uuid')) return nameOf?.(value) ?? shortId(value);
  return field.endsWith('_at') && !Number.isNaN(Date.parse(value)) ? formatExactTime(value) : value;
}

function numberWords(field: string, value: number, state: unknown): string {
  if (field.endsWith('_ms')) return formatDuration(value);
  if (field.endsWith('_bytes')) return formatBytes(value);
  if (field.endsWith('_micros_per_1m_tokens')) return `${formatMoney(value)} ${endpoints.per}`;
  const isSpend = field === 'limit_value' && isObject(state) && state['metric'] === 'spend';
  return isSpend || field.endsWith('_micros') ? formatMoney(value) : formatCount(value);
}

function listWords(field: string, values: readonly unknown[], nameOf: Surroundings['nameOf']): string {
  if (values.length === 0) return words.none;
  if (field === 'bindings') return values.map((each) => boundToWords(each, nameOf)).join(', ');
  if (values.some((each) => typeof each === 'object')) return plainValue(values);
  return values.map((each) => (field === 'alert_at' ? `${String(each)}%` : String(each))).join(', ');
}

function boundToWords(binding: unknown, nameOf: Surroundings['nameOf']): string {
  const id = isObject(binding) ? binding['target_id'] : null;
  return typeof id === 'string' ? (nameOf?.(id) ?? shortId(id)) : limits.scopes.global;
}
