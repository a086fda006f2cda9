-- Prices may come from a public price list that was imported. `as_of` is the date of that list; null: the prices are as old as the row's last change.
-- The version before this one shows these sources as they are, and writes null.
alter table pricing_policies drop constraint pricing_policies_source_check;
alter table pricing_policies
  add constraint pricing_policies_source_check check (source in ('catalog', 'manual', 'litellm', 'models_dev')) not valid,
  add column as_of timestamptz(3);
