import type { Guardrail, GuardrailBinding } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { guardrailQuery } from '../../api/guardrail-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { ResourceLink } from '../../parts/resource-link.tsx';
import { text } from '../../text/index.ts';
import { Badge } from '../../ui/badge.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { keyOf, useTargetName } from './use-target-names.ts';

const words = text.guardrails.bindings;

/**
 * The bindings of a guardrail in one line. The list contains only their number, so each visible row reads its
 * own.
 */
export function BoundToLine({ guardrail }: { readonly guardrail: Guardrail }) {
  const bound = guardrail.binding_count > 0;
  const { data } = useQuery({ ...guardrailQuery(useApi(), guardrail.id), enabled: bound });
  const nameOf = useTargetName();
  if (!bound) return <span className="text-ink-faint">{words.nowhere}</span>;
  const [first, ...more] = data?.bindings ?? [];
  const name = first === undefined ? undefined : nameOf(first);
  if (name === undefined) return <Skeleton className="w-24" />;
  const all = data?.bindings.map((binding) => nameOf(binding)).join(', ');
  return (
    <span className="block max-w-40 truncate" title={all}>
      {more.length === 0 ? name : words.more(name, more.length)}
    </span>
  );
}

export function BoundToList({ bindings }: { readonly bindings: readonly GuardrailBinding[] }) {
  const nameOf = useTargetName();
  if (bindings.length === 0) return <p className="text-[13px] text-ink-soft">{words.none}</p>;
  return (
    <ul className="divide-y rounded-lg border">
      {bindings.map((binding) => (
        <li key={keyOf(binding)} className="flex min-h-10 items-center gap-3 px-3.5 py-2 text-[13px]">
          <span className="w-18 shrink-0 text-xs text-ink-faint">
            {binding.target_type === 'global' ? '' : words.types[binding.target_type]}
          </span>
          <span className="min-w-0 flex-1 truncate font-medium">
            <TargetLink binding={binding} name={nameOf(binding)} />
          </span>
          {binding.enabled ? null : <Badge tone="warn">{words.off}</Badge>}
        </li>
      ))}
    </ul>
  );
}

interface TargetLinkProps {
  readonly binding: GuardrailBinding;
  /** Undefined while loading. */
  readonly name: string | undefined;
}

/** A target's name, linked to its page. */
function TargetLink({ binding: { target_type: type, target_id: id }, name }: TargetLinkProps) {
  if (name === undefined) return <Skeleton className="w-28" />;
  return type === 'global' || id === null ? name : <ResourceLink kind={type} id={id} name={name} />;
}
