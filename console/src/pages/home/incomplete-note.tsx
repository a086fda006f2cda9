import { TriangleAlert } from 'lucide-react';

/** Says that the newest requests are missing, so that "no failed requests" does not mean more than it can. */
export function IncompleteNote({ words }: { readonly words: string | null }) {
  if (words === null) return null;
  return (
    <p
      role="status"
      className="flex flex-wrap items-center gap-2 border-l-[3px] border-warn py-0.5 pl-3 text-warn"
    >
      <TriangleAlert aria-hidden className="size-4 shrink-0" />
      {words}
    </p>
  );
}
