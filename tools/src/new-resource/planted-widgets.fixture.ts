/** A resource that Relay does not ship: exactly the files that adding one takes. */
export const widgetFiles: Readonly<Record<string, string>> = {
  'server/src/store/postgres/migrations/20991231000000-create-widgets.sql': `create table widgets (
  organization_id uuid not null references organizations (id) on delete cascade,
  id uuid not null,
  name text not null check (length(name) between 1 and 200),
  slug text not null,
  size integer not null default 1,
  managed_by text check (managed_by in ('file')),
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (organization_id, id),
  unique (organization_id, slug)
);
create trigger touch_widgets before update on widgets for each row execute function touch_row();
alter table widgets enable row level security;
create policy own_organization on widgets
  using (organization_id = relay_organization()) with check (organization_id = relay_organization());
grant select, insert, update, delete on widgets to relay_app;
`,
  'contract/src/resources/widget.ts': `import Type, { type Static } from 'typebox';
import { ItemSlug } from '../config-item.ts';
import type { ResourceDefinition } from '../resource-definition.ts';
import { changeErrors, createErrors, noContent } from '../route-definition.ts';
import { changeOf, closed, EntityTag, Id, integer, Name, optional, PageQuery, params, Slug } from '../schema.ts';
import { ManagedBy } from './values.ts';

const Size = integer({ maximum: 1_000, default: 1 });

export const Widget = closed('Widget', {
  id: Id,
  name: Type.String(),
  slug: Slug,
  size: Size,
  managed_by: optional(ManagedBy),
  etag: EntityTag,
});
export type Widget = Static<typeof Widget>;

export const WidgetCreate = closed('WidgetCreate', { name: Name, size: optional(Size) });
export type WidgetCreate = Static<typeof WidgetCreate>;

export const WidgetUpdate = changeOf('WidgetUpdate', Widget, { name: optional(Name), size: optional(Size) });
export type WidgetUpdate = Static<typeof WidgetUpdate>;

export const ConfigWidget = closed('ConfigWidget', { slug: optional(ItemSlug), ...WidgetCreate.properties });
export type ConfigWidget = Static<typeof ConfigWidget>;

const shared = { plane: 'management', tag: 'Widgets' } as const;
const read = { scope: 'relay:widgets:read' } as const;
const manage = { scope: 'relay:widgets:manage' } as const;

export const widgetResource = {
  order: 1_000,
  scopes: {
    'relay:widgets:read': 'Read widgets.',
    'relay:widgets:manage': 'Create, change and delete widgets.',
  },
  routes: {
    listWidgets: {
      ...shared,
      method: 'GET',
      path: '/api/relay/widgets',
      access: read,
      summary: 'List widgets',
      query: PageQuery,
      success: { status: 200, schema: Type.Array(Widget) },
    },
    createWidget: {
      ...shared,
      method: 'POST',
      path: '/api/relay/widgets',
      access: manage,
      summary: 'Create a widget',
      body: WidgetCreate,
      success: { status: 201, schema: Widget },
      errors: createErrors,
    },
    updateWidget: {
      ...shared,
      method: 'PUT',
      path: '/api/relay/widgets/{widget_id}',
      access: manage,
      summary: 'Change a widget',
      params: params('widget_id'),
      body: WidgetUpdate,
      success: { status: 200, schema: Widget },
      errors: changeErrors,
    },
    deleteWidget: {
      ...shared,
      method: 'DELETE',
      path: '/api/relay/widgets/{widget_id}',
      access: manage,
      summary: 'Delete a widget',
      params: params('widget_id'),
      success: noContent,
      errors: changeErrors,
    },
  },
  section: {
    name: 'widgets',
    noun: 'widget',
    item: ConfigWidget,
    scopes: { read: read.scope, manage: manage.scope },
  },
  command: {
    singular: 'widget',
    plural: 'widgets',
    summary: 'Manage widgets',
    description: 'Manage widgets.',
  },
} as const satisfies ResourceDefinition;
`,
  'server/src/management/widgets/table.ts':
    `import { boolean, defaulted, integer, nullable, oneOf, text, timestamp, uuid } from '../../store/postgres/columns.ts';

export const widgets = {
  name: 'widgets',
  columns: {
    organization_id: uuid,
    id: uuid,
    name: text,
    slug: text,
    size: defaulted(integer),
    managed_by: nullable(oneOf<'file'>()),
    version: defaulted(integer),
    created_at: defaulted(timestamp),
    updated_at: defaulted(timestamp),
  },
};

export type WidgetColumns = typeof widgets.columns;
`.replace('boolean, ', ''),
  'server/src/management/widgets/section.ts': `import { type ConfigWidget, widgetResource } from '@relay/contract';
import { demandSlug } from '../resources/item-slug.ts';
import type { SectionOf } from '../resources/section.ts';
import type { WidgetColumns } from './table.ts';

export const widgetSection: SectionOf<ConfigWidget, WidgetColumns> = {
  announced: widgetResource.section,
  defaults: { size: 1 },
  keyOf: ({ slug }) => slug,
  entryOf: ({ slug, name, size }) => ({ slug, name, size }),
  checked(entry) {
    demandSlug(entry.slug);
    return entry;
  },
  columnsOf: (entry) => ({ ...entry }),
};
`,
  'server/src/management/widgets/routes.ts': `import type { Widget } from '@relay/contract';
import type { Handlers } from '../../http/call.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { entityTag } from '../resources/entity-tag.ts';
import { ownerOf } from '../resources/ownership.ts';
import type { RowOf } from '../resources/rows.ts';
import { insertSlugged } from '../resources/slugged-insert.ts';
import type { ResourceWrites } from '../resources/write-resource.ts';
import type { WidgetColumns } from './table.ts';

export function widgetHandlers(_deps: ManagementDeps, writes: ResourceWrites<WidgetColumns>): Handlers {
  return {
    listWidgets: async (call) => (await writes.list(call, 'listWidgets')).map(toWidget),
    async createWidget(call) {
      const { name, size } = call.body;
      const row = await writes.create(call, ({ tx, organizationId }, id) =>
        insertSlugged(tx, writes.rows, organizationId, { name, fallback: 'widget' }, (slug) => ({
          id,
          name,
          slug,
          size,
        })),
      );
      return toWidget(row);
    },
    async updateWidget(call) {
      const { name, size } = call.body;
      return toWidget(await writes.update(call, call.params.widget_id, () => ({ name, size })));
    },
    deleteWidget: (call) => writes.remove(call, call.params.widget_id),
  };
}

export function toWidget(row: RowOf<WidgetColumns>): Widget {
  const { id, name, slug, size } = row;
  return { id, name, slug, size, ...ownerOf(row), etag: entityTag(row) };
}
`,
  'server/src/management/widgets/resource.ts': `import { WidgetUpdate, widgetResource } from '@relay/contract';
import { defineResource } from '../resources/resource.ts';
import { toWidget, widgetHandlers } from './routes.ts';
import { widgetSection } from './section.ts';
import { widgets } from './table.ts';

export const resources = [
  defineResource({
    noun: widgetResource.section.noun,
    table: widgets,
    feature: ['widgets', 'listWidgets'],
    change: { body: WidgetUpdate, wire: (_deps, _db, row) => toWidget(row) },
    section: widgetSection,
    handlers: widgetHandlers,
  }),
];
`,
};
