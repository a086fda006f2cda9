import type { AuditEntry } from '@relay/contract';
import { Link } from '@tanstack/react-router';
import { usePages } from '../../session/use-pages.ts';
import { objectName, objectPlace } from './entry-words.ts';

interface ObjectLinkProps {
  readonly entry: AuditEntry;
  readonly nameOf: (id: string) => string | undefined;
}

/** The object's name, linked if it still exists and the caller can open its page. */
export function ObjectLink({ entry, nameOf }: ObjectLinkProps) {
  const pages = usePages();
  const name = objectName(entry, nameOf);
  if (name === null) return null;
  const place = objectPlace(entry);
  if (place === null || !pages.some(({ path }) => path === place.page)) return <span>{name}</span>;
  return (
    <Link
      to={place.path}
      search={place.open === undefined ? {} : { open: place.open }}
      className="relative z-10 link"
    >
      {name}
    </Link>
  );
}
