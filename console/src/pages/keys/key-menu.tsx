import type { ApiKey } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { Ban, Pencil, RefreshCw, Tags } from 'lucide-react';
import { useState } from 'react';
import { apiKeyBudgetsQuery, cacheKeys } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useChange } from '../../api/use-change.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { RowActions } from '../../ui/data-table.tsx';
import { MenuItem, MenuLine, MoreMenu } from '../../ui/menu.tsx';
import { AttributionDialog } from './attribution-dialog.tsx';
import { type NewKey, revokeKey } from './create-key.ts';
import { RenameKeyDialog } from './rename-key-dialog.tsx';
import { rotateKey } from './rotate-key.ts';

const words = text.keys;

interface KeyMenuProps {
  readonly apiKey: ApiKey;
  /** Only its owner can rename or rotate a key. */
  readonly isOwn: boolean;
  /** Called with the new secret to show. */
  readonly onCreated: (created: NewKey) => void;
}

/** The actions on an active key. */
export function KeyMenu({ apiKey, isOwn, onCreated }: KeyMenuProps) {
  const { can } = useAccess();
  const [asked, setAsked] = useState<'rename' | 'attribution' | 'rotate' | 'revoke' | null>(null);
  const close = () => setAsked(null);
  return (
    <RowActions>
      <MoreMenu of={apiKey.name}>
        {isOwn && can('renameApiKey') ? (
          <MenuItem icon={<Pencil aria-hidden />} onSelect={() => setAsked('rename')}>
            {words.rename}
          </MenuItem>
        ) : null}
        {can(isOwn ? 'renameApiKey' : 'updateOrgApiKey') ? (
          <MenuItem icon={<Tags aria-hidden />} onSelect={() => setAsked('attribution')}>
            {text.teams.attribution}
          </MenuItem>
        ) : null}
        {isOwn && can('createApiKey') ? (
          <MenuItem icon={<RefreshCw aria-hidden />} onSelect={() => setAsked('rotate')}>
            {words.rotate}
          </MenuItem>
        ) : null}
        <MenuLine />
        <MenuItem icon={<Ban aria-hidden />} danger onSelect={() => setAsked('revoke')}>
          {words.revoke}
        </MenuItem>
      </MoreMenu>
      {asked === 'rename' ? <RenameKeyDialog apiKey={apiKey} onClose={close} /> : null}
      {asked === 'attribution' ? <AttributionDialog apiKey={apiKey} isOwn={isOwn} onClose={close} /> : null}
      {asked === 'rotate' ? (
        <RotateDialog
          apiKey={apiKey}
          onClose={close}
          onCreated={(created) => {
            close();
            onCreated(created);
          }}
        />
      ) : null}
      {asked === 'revoke' ? <RevokeDialog apiKey={apiKey} isOwn={isOwn} onClose={close} /> : null}
    </RowActions>
  );
}

interface RotateDialogProps {
  readonly apiKey: ApiKey;
  readonly onClose: () => void;
  readonly onCreated: (created: NewKey) => void;
}

/** The new key gets the limits of the old one, so rotating needs the scope to write them. */
function RotateDialog({ apiKey, onClose, onCreated }: RotateDialogProps) {
  const { missing } = useAccess();
  const budgets = useQuery(apiKeyBudgetsQuery(useApi())).data?.filter(
    ({ api_key_uuid: id }) => id === apiKey.id,
  );
  const lacks = (budgets?.length ?? 0) > 0 ? missing('upsertApiKeyLimitPolicy') : [];
  const rotate = useChange({
    run: (api) => rotateKey(api, apiKey),
    stale: [cacheKeys.apiKeys, cacheKeys.orgApiKeys, cacheKeys.apiKeyBudgets, cacheKeys.limitUsage],
    onDone: onCreated,
  });
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={words.rotateTitle(apiKey.name)}
      action={words.rotateAction}
      busy={rotate.isPending}
      error={rotate.error}
      blocked={lacks.length > 0}
      tone="solid"
      onConfirm={() => rotate.mutate(undefined)}
    >
      <p>{lacks.length > 0 ? words.rotateNeeds(lacks.join(', ')) : words.rotateBody}</p>
    </ConfirmDialog>
  );
}

interface RevokeDialogProps {
  readonly apiKey: ApiKey;
  readonly isOwn: boolean;
  readonly onClose: () => void;
}

function RevokeDialog({ apiKey, isOwn, onClose }: RevokeDialogProps) {
  const revoke = useChange({
    run: (api) => revokeKey(api, apiKey, isOwn),
    stale: [cacheKeys.apiKeys, cacheKeys.orgApiKeys],
    said: () => words.revoked(apiKey.name),
    onDone: onClose,
  });
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={words.revokeTitle(apiKey.name)}
      action={words.revokeAction}
      busy={revoke.isPending}
      error={revoke.error}
      onConfirm={() => revoke.mutate(undefined)}
    >
      <p>{words.revokeBody}</p>
    </ConfirmDialog>
  );
}
