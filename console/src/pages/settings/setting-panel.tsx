import type { ReactNode } from 'react';
import { Panel } from '../../ui/page.tsx';

interface SettingPanelProps {
  readonly title: string;
  readonly badge?: ReactNode;
  readonly children: ReactNode;
  /** Actions below the panel. */
  readonly actions?: ReactNode;
}

/** One setting with its actions below a line. */
export function SettingPanel({ title, badge, children, actions }: SettingPanelProps) {
  return (
    <Panel title={title} actions={badge}>
      <div className="px-4 py-4">{children}</div>
      {actions === undefined ? null : (
        <footer className="flex flex-wrap justify-end gap-2 px-4 pb-2.5">{actions}</footer>
      )}
    </Panel>
  );
}
