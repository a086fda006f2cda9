import type { Account, User } from '@relay/contract';
import type { AccountRow, UserRow } from './queries.ts';

export function toUser(row: UserRow): User {
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    status: row.status,
    marketing_opt_in: row.marketing_opt_in,
  };
}

export function toAccount(row: AccountRow): Account {
  return {
    user: toUser(row),
    org: { id: row.organization_id, name: row.organization_name },
    role: row.role,
  };
}
