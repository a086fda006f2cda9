const USER_BUDGETS =
  'Budgets and limits of a user, key, team or tag are set for each of them over the management interface, not in the file.';
const SERVER_SETTING =
  'It is a setting of the LiteLLM server itself; those of Relay come from the environment.';
const OPERATIONS = 'Relay has logs, metrics and a request ledger of its own.';
const UNCHANGED = 'Relay passes a request on as the client has sent it, without additions of its own.';

/** Why settings have no counterpart. The first match applies. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [
    /^general_settings\.master_key$/,
    'Relay has two tokens of its own: RELAY_ADMIN_TOKEN and RELAY_API_TOKEN.',
  ],
  [/^general_settings\.(database_url|database_)/, 'The database of Relay is named by DATABASE_URL.'],
  [/^(router_settings|litellm_settings\.cache_params)\.redis_/, 'Redis is named by REDIS_URL of the server.'],
  [/^environment_variables/, 'Set variables where the server runs and where the file is applied.'],
  [/^litellm_settings\.(cache|cache_params)/, 'Relay does not cache answers.'],
  [
    /callback|otel|langfuse|alert|json_logs|verbose|message_logging|^general_settings\..*spend_log/,
    OPERATIONS,
  ],
  [
    /^(guardrails|litellm_settings\.guardrails)/,
    'Guardrails of Relay are set up on their own: a guardrail is an address that is asked.',
  ],
  [
    /(key_generate|internal_user|end_user|default_team|tag_budget|upperbound|model_max_budget|_user_budget)/,
    USER_BUDGETS,
  ],
  [
    /\.(num_retries|max_retries|retry_policy|retry_after|model_group_retry_policy)$/,
    'How many endpoints are tried for one request is RELAY_ATTEMPTS_MAX of the server; a failed one is not tried again.',
  ],
  [
    /\.(allowed_fails|allowed_fails_policy|cooldown_time|disable_cooldowns)/,
    'Relay cools an endpoint down when its provider asks for quiet, for as long as it asks.',
  ],
  [/context_window_fallbacks$/, 'Relay does not look for another model when a prompt is too long.'],
  [/content_policy_fallbacks$/, 'Relay does not look for another model when a provider refuses a content.'],
  [
    /\.(enable_pre_call_checks|enable_tag_filtering|tags|tag_filtering_match_any|access_groups)/,
    'Relay routes by lane alone.',
  ],
  [
    /\.stream_timeout$/,
    'The longest silence within an answer is RELAY_UPSTREAM_IDLE_TIMEOUT_MS of the server.',
  ],
  [
    /\.litellm_params\.(aws_|vertex_|azure_|tenant_id|client_id|client_secret)/,
    'The import reads keys alone. Create the provider with a preset, or with auth_mode, and store its credential.',
  ],
  [
    /\.litellm_params\.(input|output|cache).*cost/,
    'Relay prices tokens of input, cached input and output, and requests.',
  ],
  [/\.litellm_params\.|\.(drop_params|modify_params|additional_drop_params)$/, UNCHANGED],
  [/\.model_info/, 'It describes the model to LiteLLM; Relay has no use for it.'],
  [
    /^(mcp_servers|vector_store|search_tools|agents|assistant_settings|files_settings|finetune)/,
    'Relay has chat completions, responses and embeddings.',
  ],
  [/^general_settings/, SERVER_SETTING],
];

export function reasonOf(path: string): string {
  return REASONS.find(([pattern]) => pattern.test(path))?.[1] ?? 'Relay has no counterpart.';
}
