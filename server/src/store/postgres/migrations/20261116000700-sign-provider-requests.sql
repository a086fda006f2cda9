-- AWS signatures, Google service accounts and client certificates. The version before this one writes none of these values, and leaves the columns null.
alter table providers
  add column aws_region text check (length(aws_region) between 1 and 50),
  add column aws_service text check (length(aws_service) between 1 and 50),
  drop constraint providers_auth_mode_check,
  add constraint providers_auth_mode_check
    check (auth_mode in (
      'bearer_static', 'header_static', 'aws_sigv4', 'google_service_account', 'client_certificate', 'none'));
