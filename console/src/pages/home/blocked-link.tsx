import { Link } from '@tanstack/react-router';
import { formatCount } from '../../format/numbers.ts';
import { text } from '../../text/index.ts';
import { BLOCKED_CODE } from './blocked.ts';

/** How many requests guardrails blocked, with a link to them. */
export function BlockedLink({ blocked }: { readonly blocked: number }) {
  return (
    <Link to="/requests" search={{ error: BLOCKED_CODE }} className="link">
      {text.home.lead.blocked(formatCount(blocked))}
    </Link>
  );
}
