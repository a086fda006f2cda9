import { capitalized } from '@relay/contract/words';
import { useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { orgApiKeysQuery } from '../../api/people-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useSubjects } from '../../parts/use-subjects.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { Select } from '../../ui/field.tsx';
import { actionsOf, type TargetType, targetTypes } from './audit-actions.ts';
import { actionWords } from './entry-words.ts';
import type { useAuditSearch } from './use-audit-search.ts';

const words = text.audit.filters;

/** Actor, action and object type. The time range is next to the title, as on every page. */
export function AuditFilters({ search }: { readonly search: ReturnType<typeof useAuditSearch> }) {
  const { chosen, set } = search;
  return (
    <div className="grid grid-cols-2 items-center gap-2 sm:flex sm:flex-wrap">
      <ActorSelect value={chosen.actor} onChange={(actor) => set({ actor })} />
      <Choice
        label={words.type}
        value={chosen.type}
        any={words.anyType}
        known={targetTypes}
        onChange={(type) => set({ type, action: undefined })}
      >
        {targetTypes.map((type) => (
          <option key={type} value={type}>
            {capitalized(text.audit.types[type])}
          </option>
        ))}
      </Choice>
      <Choice
        label={words.action}
        value={chosen.action}
        any={words.anyAction}
        known={actionsOf(chosen.type).map(({ action }) => action)}
        onChange={(action) => set({ action })}
      >
        {actionsOf(chosen.type).map(({ action, type }) => (
          <option key={action} value={action}>
            {actionWords(action, type)}
          </option>
        ))}
      </Choice>
      {chosen.target === undefined ? null : (
        <Button size="small" onClick={() => set({ target: undefined })}>
          {words.object}
          <X aria-hidden className="size-3.5" />
        </Button>
      )}
      {search.isFiltered ? (
        <Button
          look="quiet"
          size="small"
          onClick={() => set({ actor: undefined, type: undefined, action: undefined, target: undefined })}
        >
          {words.clear}
        </Button>
      ) : null}
    </div>
  );
}

function ActorSelect({
  value,
  onChange,
}: {
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
}) {
  const api = useApi();
  const { can } = useAccess();
  const members = useSubjects();
  const keys = useQuery({ ...orgApiKeysQuery(api), enabled: can('listOrgApiKeys') });
  const known = [...(members ?? []).map(({ id }) => id), ...(keys.data ?? []).map(({ id }) => id)];
  return (
    <Choice label={words.actor} value={value} any={words.anyActor} known={known} onChange={onChange}>
      <optgroup label={words.members}>
        {members?.map(({ id, name, email }) => (
          <option key={id} value={id}>
            {name === '' ? email : name}
          </option>
        ))}
      </optgroup>
      {keys.data === undefined || keys.data.length === 0 ? null : (
        <optgroup label={words.keys}>
          {keys.data.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </optgroup>
      )}
    </Choice>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly any: string;
  /** Adds an option for a value from the URL that is not in the list. */
  readonly known: readonly (string | TargetType)[];
  readonly onChange: (value: string | undefined) => void;
  readonly children: ReactNode;
}

function Choice({ label, value, any, known, onChange, children }: ChoiceProps) {
  return (
    <Select
      aria-label={label}
      value={value ?? ''}
      className="w-full sm:w-48"
      onChange={({ target }) => onChange(target.value === '' ? undefined : target.value)}
    >
      <option value="">{any}</option>
      {value === undefined || known.includes(value) ? null : <option value={value}>{value}</option>}
      {children}
    </Select>
  );
}
