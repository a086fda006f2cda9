import { useQuery } from '@tanstack/react-query';
import { capabilitiesQuery, sessionQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { text } from '../../text/index.ts';
import { FactorPanel } from './factor-panel.tsx';
import { PasswordPanel } from './password-panel.tsx';
import { SessionsPanel } from './sessions-panel.tsx';
import { SettingPanel } from './setting-panel.tsx';

const words = text.settings.security;

export function SecuritySection() {
  const api = useApi();
  const { data: session } = useQuery(sessionQuery(api));
  const { data: capabilities } = useQuery(capabilitiesQuery(api));
  if (session === undefined || capabilities === undefined) return null;
  return (
    <>
      {capabilities.accounts && session.has_password ? (
        <>
          <PasswordPanel />
          <FactorPanel isOn={session.has_second_factor} />
        </>
      ) : (
        <SettingPanel title={words.password}>
          <p className="text-[13px] text-ink-soft">
            {capabilities.accounts ? words.noPassword : words.noAccounts}
          </p>
        </SettingPanel>
      )}
      <SessionsPanel />
    </>
  );
}
