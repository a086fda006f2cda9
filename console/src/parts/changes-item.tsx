import { useNavigate } from '@tanstack/react-router';
import { History } from 'lucide-react';
import { useAccess } from '../session/use-access.ts';
import { text } from '../text/index.ts';
import { MenuItem } from '../ui/menu.tsx';

interface ChangesItemProps {
  readonly type: keyof typeof text.audit.types;
  readonly id: string;
}

/** In the menu of a resource: opens the audit log with its changes. Nothing for callers who can't read the log. */
export function ChangesItem({ type, id }: ChangesItemProps) {
  const { can } = useAccess();
  const navigate = useNavigate();
  if (!can('listAuditLog')) return null;
  return (
    <MenuItem
      icon={<History aria-hidden />}
      onSelect={() => void navigate({ to: '/audit', search: { type, target: id, range: '90d' } })}
    >
      {text.actions.changes}
    </MenuItem>
  );
}
