import { useQuery } from '@tanstack/react-query';
import { teamsQuery } from '../api/team-queries.ts';
import { useApi } from '../api/use-api.ts';
import { useAccess } from '../session/use-access.ts';
import { text } from '../text/index.ts';
import { Field, Select } from '../ui/field.tsx';

interface TeamFieldProps {
  /** Null for none of its own. */
  readonly value: string | null;
  readonly onChange: (teamId: string | null) => void;
  /** What null means. */
  readonly none: string;
  readonly hint?: string;
}

/** Chooses a team. Nothing for callers who may not, and while there are no teams. */
export function TeamField({ value, onChange, none, hint }: TeamFieldProps) {
  const { can } = useAccess();
  const mayChoose = can('listTeams') && can('updateTeam');
  const { data: teams } = useQuery({ ...teamsQuery(useApi()), enabled: mayChoose });
  if (teams === undefined || teams.length === 0) return null;
  return (
    <Field label={text.teams.team} hint={hint}>
      {(control) => (
        <Select
          {...control}
          value={value ?? ''}
          onChange={(event) => onChange(event.target.value === '' ? null : event.target.value)}
        >
          <option value="">{none}</option>
          {teams.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}
