/** The command that has a flag: `create` or `update` of one resource. */
export interface FlagOwner {
  readonly verb: 'create' | 'update';
  readonly resource: string;
}

/** What an option says of a field of the API: by command, by resource, or wherever the field occurs. */
export function wordsFor(field: string, owner: FlagOwner | null): string | undefined {
  if (owner === null) return optionWords[field];
  const { verb, resource } = owner;
  return (
    optionWords[`${verb} ${resource}.${field}`] ?? optionWords[`${resource}.${field}`] ?? optionWords[field]
  );
}

const optionWords: Readonly<Record<string, string>> = {
  name: 'name',
  description: 'description',
  enabled: 'enable it',
  'create provider.name': 'name (default: from the preset)',
  'create provider.base_url': 'base URL (default: from the preset)',
  base_url: 'base URL',
  'provider.auth_mode': 'authentication with the provider; header_static needs --auth-header-name',
  auth_header_name: 'header that carries the credential',
  aws_region: 'AWS region for signatures, such as us-east-1; if not set, the one in the base URL',
  aws_service: 'AWS service for signatures; if not set, the one in the base URL, or bedrock',
  max_latency_ms: 'request timeout',
  health_probe:
    'health check every 30 s; models lists the models, request sends a request for 1 token, which the provider bills',
  'update endpoint.provider_id': 'provider: name, slug or ID',
  upstream_model: 'upstream model',
  route_kind: 'kind of requests to serve',
  protocol:
    'provider’s protocol: openai for chat completions, responses and embeddings, anthropic for Messages',
  credential_id: 'credential, by ID; if not set, the provider’s enabled credential',
  pacing: 'space requests evenly within per-second and per-minute limits',
  max_concurrency: 'maximum number of concurrent requests',
  context_window: 'context window in tokens',
  currency: 'currency',
  source: 'price source; catalog without prices restores Relay’s price list',
  selection:
    'endpoint selection: soonest for the first available by rank, preferred to wait for the highest-ranked endpoint within the wait budget',
  'lane.priority': 'priority in queues: interactive before standard before batch',
  shadows_model: 'allow the name of an upstream model; requests for the model then go to the lane',
  takes_over: 'allow the change to what existing callable names stand for',
  scope_type: 'type of resource that the limit applies to; global for the whole organization',
  period: 'window; none only with metric concurrency',
  unpriced:
    'with metric spend, what happens to endpoints without a price: refuse sends them no requests, allow sends them requests without counting the spend',
  enforcement:
    'with metric tokens or spend: estimate reserves the expected usage, hard reserves the most a request can use',
  alert_at: 'alert thresholds in percent, such as 50,80; with period hour, day, week or month',
  alert_on_forecast: 'alert when usage at the current rate will reach the limit before it resets',
  'alert-destination.kind': 'kind; mail needs a mail server in the deployment',
  'create alert-destination.secret':
    'for webhooks: `whsec_` followed by 24 to 64 bytes in base64; if not set, Relay creates a secret and shows it once',
  'update alert-destination.secret': 'for webhooks: `whsec_` followed by 24 to 64 bytes in base64',
  url: 'URL of the webhook; not for mail',
  address: 'email address; not for a webhook',
  'team.kind': 'kind of team; all kinds work the same',
  'guardrail.base_url': 'URL to call',
  'guardrail.preset_slug': 'preset; `relay guardrails presets` lists them',
  http_method: 'HTTP method',
  'guardrail.auth_mode': 'authentication with the guardrail; header_static needs --secret-header-name',
  'create guardrail.enabled': 'no effect: new guardrails are disabled; enable them with an update',
  'guardrail.priority': 'order; lower runs first',
  timeout_ms: 'check timeout',
  failure_mode: 'when the guardrail is unavailable: fail_closed rejects the request, fail_open allows it',
  secret_header_name: 'header that carries the credential',
  'create guardrail.secret': 'used unless --auth-mode is none',
  'update guardrail.secret': 'to remove the stored credential, set secret to null in --file',
  max_request_bytes: 'maximum size of a request to the guardrail, in bytes',
  max_response_bytes: 'maximum size of a response from the guardrail, in bytes',
  metric: 'metric to limit; concurrency requires period none',
  default_max_wait_ms: 'wait budget',
  hold_ms: 'how long to hold a stream without content for a fallback',
  hidden: 'hide from the model list',
  allow_fallback: 'fall back to the next endpoint',
  supports_streaming: 'send streaming requests to this endpoint',
  pre_dispatch_enabled: 'check prompts',
  post_response_enabled: 'check responses',
  input_cost_micros_per_1m_tokens: 'input price in dollars per 1M tokens',
  output_cost_micros_per_1m_tokens: 'output price in dollars per 1M tokens',
  cached_input_cost_micros_per_1m_tokens: priceOf('cached input', 'input'),
  cache_write_5m_cost_micros_per_1m_tokens: priceOf('input written to a 5-minute cache', 'input'),
  cache_write_1h_cost_micros_per_1m_tokens: priceOf('input written to a 1-hour cache', '5-minute cache'),
  audio_input_cost_micros_per_1m_tokens: priceOf('audio input', 'input'),
  image_input_cost_micros_per_1m_tokens: priceOf('image input', 'input'),
  reasoning_cost_micros_per_1m_tokens: priceOf('reasoning', 'output'),
  audio_output_cost_micros_per_1m_tokens: priceOf('audio output', 'output'),
  image_output_cost_micros_per_1m_tokens: priceOf('image output', 'output'),
  flat_request_cost_micros: 'price per request in dollars',
};

/** What `--no-…` says of a field. */
export const noWords: Readonly<Record<string, string>> = {
  enabled: 'disable it',
  allow_fallback: 'don’t fall back',
  supports_streaming: 'send no streaming requests to this endpoint',
  pacing: 'don’t space requests evenly',
  hidden: 'show in the model list',
  shadows_model: 'don’t allow the name of an upstream model',
  takes_over: 'keep what existing callable names stand for (default)',
  alert_on_forecast: 'don’t alert on forecasts',
  pre_dispatch_enabled: 'don’t check prompts',
  post_response_enabled: 'don’t check responses',
};

function priceOf(part: string, otherwise: string): string {
  return `price of ${part} in dollars per 1M tokens; if not set, the ${otherwise} price`;
}
