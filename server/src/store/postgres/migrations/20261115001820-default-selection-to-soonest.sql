-- A lane that does not say otherwise sends a request to the highest-ranked candidate that is free now. Existing lanes keep what they have.
alter table lanes alter column selection set default 'soonest';
