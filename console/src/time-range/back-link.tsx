import { Link } from '@tanstack/react-router';
import { ArrowLeft } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { timeRangeSearch } from './time-range.ts';

interface BackLinkProps {
  readonly to: '/guardrails' | '/lanes' | '/requests';
  readonly children: ReactNode;
}

/** A link back to the list, with the same time range. */
export function BackLink({ to, children }: BackLinkProps) {
  return (
    <Button asChild look="quiet" size="small" className="mb-3 -ml-2.5">
      <Link to={to} search={(before: Record<string, unknown>) => timeRangeSearch(before)}>
        <ArrowLeft aria-hidden className="size-4" />
        {children}
      </Link>
    </Button>
  );
}
