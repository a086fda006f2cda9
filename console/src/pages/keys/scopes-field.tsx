import { expandScopes, isScope, type Scope, scopes as scopeTable } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { apiKeyScopesQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Check } from '../../ui/field.tsx';
import { Skeleton } from '../../ui/states.tsx';

const words = text.keys;

interface ScopesFieldProps {
  readonly chosen: readonly string[];
  readonly isMissing: boolean;
  readonly onChange: (scopes: readonly string[]) => void;
}

/** The scopes that the caller may give to a key, with two shortcuts. */
export function ScopesField({ chosen, isMissing, onChange }: ScopesFieldProps) {
  const allowed = useQuery(apiKeyScopesQuery(useApi()));
  const { holds } = useAccess();
  return (
    <fieldset>
      <legend className="text-[13px] font-medium">{words.scopes}</legend>
      <div className="mt-1 mb-3 flex flex-wrap items-center gap-x-4 gap-y-2">
        <p className="text-xs text-ink-faint">{words.scopesHint}</p>
        <span className="ml-auto flex gap-2">
          {holds('relay:request') ? (
            <Button size="small" onClick={() => onChange(['relay:request'])}>
              {words.inference}
            </Button>
          ) : null}
          <Button size="small" onClick={() => onChange(allowed.data ?? [])}>
            {words.everything}
          </Button>
        </span>
      </div>
      {allowed.data === undefined ? (
        <div className="space-y-3">
          <Skeleton className="w-64" />
          <Skeleton className="w-72" />
        </div>
      ) : (
        <ScopeList allowed={allowed.data} chosen={chosen} onChange={onChange} />
      )}
      <ErrorNote error={allowed.error} className="mt-3" />
      {isMissing ? <p className="mt-2 text-xs text-bad">{words.scopesMissing}</p> : null}
    </fieldset>
  );
}

/** A scope that another one includes is checked and disabled. */
function ScopeList({ allowed, chosen, onChange }: ScopeListProps) {
  const known = chosen.filter((scope): scope is Scope => isScope(scope));
  const held = new Set<string>(expandScopes(known));
  return (
    <ul className="grid gap-x-6 gap-y-3 sm:grid-cols-2">
      {allowed
        .filter((scope): scope is Scope => isScope(scope))
        .map((scope) => (
          <li key={scope}>
            <Check
              label={<span className="font-mono text-xs break-all">{scope}</span>}
              hint={scopeTable[scope]}
              checked={held.has(scope)}
              disabled={held.has(scope) && !chosen.includes(scope)}
              onChange={(event) =>
                onChange(event.target.checked ? [...chosen, scope] : chosen.filter((each) => each !== scope))
              }
            />
          </li>
        ))}
    </ul>
  );
}

interface ScopeListProps {
  readonly allowed: readonly string[];
  readonly chosen: readonly string[];
  readonly onChange: (scopes: readonly string[]) => void;
}
