-- Guardrails become part of the configuration file, which refers to their secrets as it does to those of credentials.

-- Where whoever applies the file finds the secret, such as env:GUARDRAIL_KEY. Never the secret.
alter table guardrails add column secret_ref text check (length(secret_ref) between 1 and 500);

drop trigger touch_guardrails on guardrails;
create trigger touch_guardrails
  before update of name, slug, preset_slug, base_url, http_method, auth_mode, secret_header_name, secret_version,
    priority, timeout_ms, pre_dispatch_enabled, post_response_enabled, failure_mode, request_template,
    response_rules, max_request_bytes, max_response_bytes, enabled, secret_ref, managed_by
  on guardrails for each row execute function touch_row();
