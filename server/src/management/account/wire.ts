import type { User } from '@relay/contract';
import type { UserRow } from './queries.ts';

export function toUser(row: UserRow): User {
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    status: row.status,
    marketing_opt_in: row.marketing_opt_in,
  };
}
