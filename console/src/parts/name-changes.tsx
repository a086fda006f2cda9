import type { NameChange } from '@relay/contract';
import { text } from '../text/index.ts';

const words = text.nameChanges;
const LISTED_MAX = 20;

/** Callable names that stand for something else afterwards, or that a new name could be mistaken for. */
export function NameChanges({ changes }: { readonly changes: readonly NameChange[] }) {
  if (changes.length === 0) return null;
  return (
    <div className="text-[13px] text-warn">
      <p className="font-medium">{words.title(changes.length)}</p>
      <ul>
        {changes.slice(0, LISTED_MAX).map(({ name, kind, before, after }) => (
          <li key={name}>{words[kind](name, meaning(before), meaning(after))}</li>
        ))}
      </ul>
    </div>
  );
}

function meaning({ kind, name }: NameChange['before']): string {
  return kind === 'lane' ? words.lane(name) : words.model(name);
}
