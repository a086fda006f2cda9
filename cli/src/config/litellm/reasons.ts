const USER_BUDGETS =
  'Set limits for members, keys and teams over the management API or in the console, not in the file.';
const SERVER_SETTING =
  'This configures the LiteLLM server. Relay reads its settings from environment variables.';
const OPERATIONS = 'Relay has its own logs, metrics and request ledger.';
const UNCHANGED = 'Relay doesn’t add these parameters to requests.';

/** Why settings have no counterpart. The first match applies. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/^general_settings\.master_key$/, 'Relay uses its own 2 tokens: RELAY_ADMIN_TOKEN and RELAY_API_TOKEN.'],
  [/^general_settings\.(database_url|database_)/, 'Set Relay’s database in DATABASE_URL.'],
  [/^(router_settings|litellm_settings\.cache_params)\.redis_/, 'Set Redis in the server’s REDIS_URL.'],
  [/^environment_variables/, 'Set variables where the server runs and where the file is applied.'],
  [/^litellm_settings\.(cache|cache_params)/, 'Relay has no response cache.'],
  [
    /callback|otel|langfuse|alert|json_logs|verbose|message_logging|^general_settings\..*spend_log/,
    OPERATIONS,
  ],
  [
    /^(guardrails|litellm_settings\.guardrails)/,
    'Set up guardrails in Relay: a guardrail is an HTTP service that checks prompts and responses.',
  ],
  [
    /(key_generate|internal_user|end_user|default_team|tag_budget|upperbound|model_max_budget|_user_budget)/,
    USER_BUDGETS,
  ],
  [
    /\.(num_retries|max_retries|retry_policy|retry_after|model_group_retry_policy)$/,
    'RELAY_ATTEMPTS_MAX on the server sets the attempts per request. Relay retries an endpoint only after a pause that its provider asked for.',
  ],
  [
    /\.(allowed_fails|allowed_fails_policy|cooldown_time|disable_cooldowns)/,
    'Relay cools an endpoint down for the time in the provider’s Retry-After. After failures, a circuit breaker stops traffic to it.',
  ],
  [/context_window_fallbacks$/, 'Relay doesn’t fall back to another model when a prompt is too long.'],
  [/content_policy_fallbacks$/, 'Relay doesn’t fall back to another model when a provider rejects content.'],
  [
    /\.(enable_pre_call_checks|enable_tag_filtering|tags|tag_filtering_match_any|access_groups)/,
    'Relay routes only by lane.',
  ],
  [/\.stream_timeout$/, 'Set RELAY_UPSTREAM_IDLE_TIMEOUT_MS on the server instead.'],
  [
    /\.litellm_params\.(aws_|vertex_|azure_|tenant_id|client_id|client_secret)/,
    'The import reads only API keys. Create the provider with a preset, or with auth_mode, and store its credential.',
  ],
  [/\.litellm_params\.(input|output|cache).*cost/, 'Relay has no price of this kind.'],
  [/\.litellm_params\.|\.(drop_params|modify_params|additional_drop_params)$/, UNCHANGED],
  [
    /\.model_info/,
    'It describes the model to LiteLLM; Relay doesn’t use it. Set a price: relay endpoints set-price.',
  ],
  [
    /^(mcp_servers|vector_store|search_tools|agents|assistant_settings|files_settings|finetune)/,
    'Relay serves only chat completions, responses, messages and embeddings.',
  ],
  [/^general_settings/, SERVER_SETTING],
];

export function reasonOf(path: string): string {
  return REASONS.find(([pattern]) => pattern.test(path))?.[1] ?? 'Relay has no counterpart.';
}
