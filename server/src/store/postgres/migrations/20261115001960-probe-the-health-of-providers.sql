-- Whether Relay asks the provider by itself, so that its health is known without requests of clients.
alter table providers add column health_probe text not null default 'off'
  check (health_probe in ('off', 'models', 'request'));
