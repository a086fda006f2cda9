import { useSearch } from '@tanstack/react-router';
import type { ComponentType } from 'react';
import { LinkTabs } from '../../address/link-tabs.tsx';
import type { SettingsSearch, SettingsSection } from '../../address/settings-search.ts';
import { keysOf } from '../../format/values.ts';
import { text } from '../../text/index.ts';
import { Page } from '../../ui/page.tsx';
import { OrganizationSection } from './organization-section.tsx';
import { PreferencesSection } from './preferences-section.tsx';
import { ProfileSection } from './profile-section.tsx';
import { SecuritySection } from './security-section.tsx';

const words = text.settings;

const SECTIONS: Readonly<Record<SettingsSection, ComponentType>> = {
  profile: ProfileSection,
  preferences: PreferencesSection,
  security: SecuritySection,
  organization: OrganizationSection,
};

export function SettingsPage() {
  const { section = 'profile' }: SettingsSearch = useSearch({ strict: false });
  const Shown = SECTIONS[section];
  const names = keysOf(SECTIONS);
  return (
    <Page title={text.pages.settings} description={words.description}>
      <LinkTabs
        label={text.pages.settings}
        current={section}
        tabs={names.map((key) => ({ key, label: words.sections[key], search: { section: key } }))}
      />
      <div className="max-w-3xl space-y-6">
        <Shown />
      </div>
    </Page>
  );
}
