import { Link } from '@tanstack/react-router';
import { ArrowLeft } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button } from '../ui/button.tsx';

interface BackLinkProps {
  readonly to: '/guardrails' | '/lanes';
  /** The filters and the time range of the list, if they are known. */
  readonly shown?: object | undefined;
  readonly children: ReactNode;
}

/** A link back to the list, as it was where that is known. */
export function BackLink({ to, shown, children }: BackLinkProps) {
  return (
    <Button asChild look="quiet" size="small">
      <Link to={to} search={{ ...shown }}>
        <ArrowLeft aria-hidden className="size-4" />
        {children}
      </Link>
    </Button>
  );
}
