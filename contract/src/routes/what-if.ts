import { configurationScopes } from '../resource-list.ts';
import type { RouteTable } from '../route-definition.ts';
import { WhatIf, WhatIfRequest } from '../what-if.ts';

export const whatIfRoutes = {
  whatIf: {
    plane: 'management',
    tag: 'Deployment',
    method: 'POST',
    path: '/api/relay/what-if',
    access: { everyScope: [...configurationScopes.read, 'relay:usage:read:organization'] },
    summary: 'Replay recent requests with an edited configuration, without changing anything',
    body: WhatIfRequest,
    success: { status: 200, schema: WhatIf },
    errors: ['conflict', 'managed_by_file', 'not_found', 'name_taken', 'mode_unsupported', 'queue_full'],
  },
} as const satisfies RouteTable;
