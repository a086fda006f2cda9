import type { Member } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { sessionQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { keysOf } from '../../format/values.ts';
import { text } from '../../text/index.ts';
import { classes } from '../../ui/class-names.ts';

const words = text.members;
export const roles = keysOf(words.roles);

interface RoleChoiceProps {
  readonly value: Member['role'];
  readonly onChange: (role: Member['role']) => void;
}

/** The roles with descriptions. Only owners can assign the owner role. */
export function RoleChoice({ value, onChange }: RoleChoiceProps) {
  const name = useId();
  const { data: session } = useQuery(sessionQuery(useApi()));
  const offered = roles.filter((role) => role !== 'owner' || session?.role === 'owner');
  return (
    <fieldset>
      <legend className="mb-1.5 text-[13px] font-medium">{words.role}</legend>
      <div className="divide-y overflow-hidden rounded-lg border">
        {offered.map((role) => (
          <label
            key={role}
            className={classes(
              'flex cursor-pointer items-start gap-3 px-3 py-2.5 hover:bg-hover',
              role === value && 'bg-hover hover:bg-hover',
            )}
          >
            <input
              type="radio"
              name={name}
              value={role}
              checked={role === value}
              onChange={() => onChange(role)}
              className="mt-[3px] size-4 shrink-0 accent-ink"
            />
            <span className="min-w-0">
              <span className="block text-[13px] font-medium">{words.roles[role].name}</span>
              <span className="block text-xs text-ink-soft">{words.roles[role].may}</span>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
