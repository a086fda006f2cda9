import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useChangeSearch } from '../../address/change-search.ts';
import type { ConfigurationSearch, ConfigurationView } from '../../address/control-search.ts';
import { LinkTabs } from '../../address/link-tabs.tsx';
import { text } from '../../text/index.ts';
import { Page } from '../../ui/page.tsx';
import { CompareView } from './compare-view.tsx';
import { CurrentView } from './current-view.tsx';
import { OwnedView } from './owned-view.tsx';

const words = text.configuration;
const VIEWS = ['current', 'compare', 'owned'] as const satisfies readonly ConfigurationView[];

export function ConfigurationPage() {
  const { view = 'current' }: ConfigurationSearch = useSearch({ strict: false });
  const changeSearch = useChangeSearch();
  // Kept here, so that the text survives switching views.
  const [file, setFile] = useState('');
  const edit = (copy: string) => {
    setFile(copy);
    changeSearch({ view: 'compare' });
  };
  return (
    <Page title={text.pages.configuration} description={words.description}>
      <LinkTabs
        label={words.viewsLabel}
        current={view}
        tabs={VIEWS.map((each) => ({
          key: each,
          label: words.views[each],
          search: { view: each === 'current' ? undefined : each, q: undefined },
        }))}
      />
      {view === 'current' ? <CurrentView onEdit={edit} /> : null}
      {view === 'compare' ? <CompareView file={file} onFile={setFile} /> : null}
      {view === 'owned' ? <OwnedView /> : null}
    </Page>
  );
}
