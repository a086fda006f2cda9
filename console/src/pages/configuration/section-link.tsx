import type { ConfigPlan } from '@relay/contract';
import { Link } from '@tanstack/react-router';
import { withSearch } from '../../address/change-search.ts';
import { usePages } from '../../session/use-pages.ts';

type SectionName = ConfigPlan['changes'][number]['section'];

interface SectionLinkProps {
  readonly section: SectionName;
  readonly id: string | null;
  /** Its key in the file. */
  readonly children: string;
}

/** The key of a resource in the file, linked if the resource exists and has a page. */
export function SectionLink({ section, id, children }: SectionLinkProps) {
  const pages = usePages();
  const place = id === null ? null : placeOf(section, id);
  if (place === null || !pages.some(({ path }) => path === place.page))
    return <code className="font-mono text-xs break-all">{children}</code>;
  return (
    <Link
      to={place.path}
      {...(place.open === undefined ? {} : { search: withSearch({ open: place.open }) })}
      className="font-mono text-xs break-all link"
    >
      {children}
    </Link>
  );
}

function placeOf(section: SectionName, id: string): { page: string; path: string; open?: string } | null {
  switch (section) {
    case 'lanes':
    case 'guardrails':
      return { page: `/${section}`, path: `/${section}/${id}` };
    case 'providers':
    case 'endpoints':
      return { page: `/${section}`, path: `/${section}`, open: id };
    case 'limit_policies':
      return { page: '/limits', path: '/limits' };
    default:
      return null;
  }
}
