import { useQuery } from '@tanstack/react-query';
import { membersQuery } from '../../api/people-queries.ts';
import { sessionQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { Field, Select } from '../../ui/field.tsx';

const words = text.keys;

interface OwnerFieldProps {
  /** Null for the caller. */
  readonly value: string | null;
  readonly onChange: (userId: string | null) => void;
}

/** The owner of the key: the caller or another active member. Nothing for callers who may not choose, and without other members. */
export function OwnerField({ value, onChange }: OwnerFieldProps) {
  const api = useApi();
  const { can } = useAccess();
  const { data: session } = useQuery(sessionQuery(api));
  const { data: members } = useQuery({ ...membersQuery(api), enabled: can('listMembers') });
  // A key whose budget can't be created is revoked again.
  if (session === undefined || !can('createOrgApiKey') || !can('revokeOrgApiKey')) return null;
  const others = (members ?? []).filter(
    ({ id, status, role }) =>
      id !== session.user.id && status === 'active' && (role !== 'owner' || session.role === 'owner'),
  );
  if (others.length === 0) return null;
  return (
    <Field label={words.columns.owner} hint={words.ownerHint}>
      {(control) => (
        <Select
          {...control}
          value={value ?? ''}
          onChange={(event) => onChange(event.target.value === '' ? null : event.target.value)}
        >
          <option value="">{words.ownerSelf(session.user.name)}</option>
          {others.map(({ id, name, email }) => (
            <option key={id} value={id}>
              {`${name} · ${email}`}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}
