-- What customers of a hosted deployment were charged, as Stripe tells it in its events. Stripe is the truth; these rows are
-- what is shown of it. Amounts are in the minor unit of their currency. Ids are Stripe's own and unique everywhere, so
-- they alone are the keys.

alter table organizations add column stripe_customer_id text check (length(stripe_customer_id) between 1 and 255);
-- Partial, and so no key that a foreign key could point to: setting it does not wait for writers of other tables.
create unique index organizations_by_stripe_customer on organizations (stripe_customer_id)
  where stripe_customer_id is not null;

-- Every event that had a consequence, once. One that comes before what tells whose it is waits for that: a customer, a
-- payment or a product, by its id. Only what follows from an event is kept, and only while it waits.
create table billing_events (
  id text primary key check (length(id) between 1 and 255),
  type text not null check (length(type) <= 100),
  organization_id uuid,
  waits_for text check (length(waits_for) between 1 and 255),
  fact jsonb,
  -- What the organization's fence has to be raised to, for an event that changed its plan.
  config_version bigint,
  created_at timestamptz(3) not null,
  received_at timestamptz(3) not null default now(),
  check ((waits_for is null) = (fact is null))
);
create index billing_events_waiting on billing_events (waits_for, created_at, id) where waits_for is not null;
create index billing_events_by_age on billing_events (received_at);

-- `event_at` and `status_rank` say how new the state is. An event of an earlier second changes nothing, and neither does one
-- of the same second whose status comes earlier in the life of the object.
create table billing_invoices (
  id text primary key check (length(id) between 1 and 255),
  organization_id uuid not null references organizations (id) on delete cascade,
  number text,
  status text not null,
  currency text not null,
  total bigint not null,
  amount_due bigint not null,
  amount_paid bigint not null,
  amount_remaining bigint not null,
  subscription_id text,
  period_start timestamptz(3) not null,
  period_end timestamptz(3) not null,
  due_at timestamptz(3),
  paid_at timestamptz(3),
  hosted_invoice_url text,
  invoice_pdf_url text,
  created_at timestamptz(3) not null,
  event_at timestamptz(3) not null,
  status_rank smallint not null
);
create index billing_invoices_newest_first on billing_invoices (organization_id, created_at desc, id desc);

create table billing_payments (
  id text primary key check (length(id) between 1 and 255),
  organization_id uuid not null references organizations (id) on delete cascade,
  status text not null,
  currency text not null,
  amount bigint not null,
  amount_received bigint not null,
  failure_code text,
  created_at timestamptz(3) not null,
  event_at timestamptz(3) not null,
  status_rank smallint not null
);
create index billing_payments_newest_first on billing_payments (organization_id, created_at desc, id desc);

create table billing_refunds (
  id text primary key check (length(id) between 1 and 255),
  organization_id uuid not null references organizations (id) on delete cascade,
  payment_id text,
  status text not null,
  currency text not null,
  amount bigint not null,
  reason text,
  created_at timestamptz(3) not null,
  event_at timestamptz(3) not null,
  status_rank smallint not null
);
create index billing_refunds_newest_first on billing_refunds (organization_id, created_at desc, id desc);

create table billing_disputes (
  id text primary key check (length(id) between 1 and 255),
  organization_id uuid not null references organizations (id) on delete cascade,
  payment_id text,
  status text not null,
  currency text not null,
  amount bigint not null,
  reason text,
  evidence_due_at timestamptz(3),
  created_at timestamptz(3) not null,
  event_at timestamptz(3) not null,
  status_rank smallint not null
);
create index billing_disputes_newest_first on billing_disputes (organization_id, created_at desc, id desc);

-- What happened to the account itself; the id is that of the event.
create table billing_activities (
  id text primary key check (length(id) between 1 and 255),
  organization_id uuid not null references organizations (id) on delete cascade,
  type text not null check (type in ('customer.linked', 'checkout.completed', 'subscription.created',
    'subscription.updated', 'subscription.deleted')),
  subscription_id text,
  status text,
  plan text,
  created_at timestamptz(3) not null
);
create index billing_activities_newest_first on billing_activities (organization_id, created_at desc, id desc);

-- What plans follow from: the subscriptions of an organization, and which plan each product stands for; null for none.
create table billing_subscriptions (
  id text primary key check (length(id) between 1 and 255),
  organization_id uuid not null references organizations (id) on delete cascade,
  status text not null,
  product_ids text[] not null,
  event_at timestamptz(3) not null,
  status_rank smallint not null
);
create index billing_subscriptions_by_organization on billing_subscriptions (organization_id);

create table billing_products (
  id text primary key check (length(id) between 1 and 255),
  plan text check (plan ~ '^[a-z][a-z0-9_]{0,49}$'),
  event_at timestamptz(3) not null
);

do $$
declare
  shown text;
begin
  foreach shown in array array[
    'billing_invoices', 'billing_payments', 'billing_refunds', 'billing_disputes', 'billing_activities'
  ] loop
    execute format('alter table %I enable row level security', shown);
    execute format(
      'create policy own_organization on %I using (organization_id = relay_organization()) with check (organization_id = relay_organization())',
      shown);
    execute format('grant select on %I to relay_app', shown);
  end loop;
end $$;
-- Without a policy: nobody but the owner of the tables sees them.
alter table billing_events enable row level security;
alter table billing_subscriptions enable row level security;
alter table billing_products enable row level security;
