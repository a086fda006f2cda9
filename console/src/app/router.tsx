import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Navigate,
} from '@tanstack/react-router';
import { listSearch } from './list-search.ts';
import { PageCrashed, PageNotFound } from './page-failures.tsx';
import { SessionGate } from './session-gate.tsx';
import { timeRangeSearch } from './time-range.ts';
import { usePages } from './use-pages.ts';

const root = createRootRoute({ notFoundComponent: PageNotFound });

/** The time range belongs to all pages: whoever goes from one to another looks at the same hours. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  validateSearch: timeRangeSearch,
  component: SessionGate,
});

const acceptInvitation = createRoute({
  getParentRoute: () => root,
  path: '/accept-invitation',
  component: lazyRouteComponent(() => import('./accept-invitation.tsx'), 'AcceptInvitation'),
});

const home = createRoute({ getParentRoute: () => signedIn, path: '/', component: FirstPage });

const playground = createRoute({
  getParentRoute: () => signedIn,
  path: '/playground',
  component: lazyRouteComponent(() => import('../pages/playground/playground-page.tsx'), 'PlaygroundPage'),
});

const lanes = createRoute({
  getParentRoute: () => signedIn,
  path: '/lanes',
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import('../pages/lanes/lanes-page.tsx'), 'LanesPage'),
});

const lane = createRoute({
  getParentRoute: () => signedIn,
  path: '/lanes/$laneId',
  component: lazyRouteComponent(() => import('../pages/lanes/lane-editor-page.tsx'), 'LaneEditorPage'),
});

const endpoints = createRoute({
  getParentRoute: () => signedIn,
  path: '/endpoints',
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import('../pages/endpoints/endpoints-page.tsx'), 'EndpointsPage'),
});

const providers = createRoute({
  getParentRoute: () => signedIn,
  path: '/providers',
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import('../pages/providers/providers-page.tsx'), 'ProvidersPage'),
});

const keys = createRoute({
  getParentRoute: () => signedIn,
  path: '/keys',
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import('../pages/keys/keys-page.tsx'), 'KeysPage'),
});

function FirstPage() {
  const [first] = usePages();
  return first === undefined ? null : <Navigate to={first.path} replace />;
}

export function createConsoleRouter() {
  return createRouter({
    routeTree: root.addChildren([
      acceptInvitation,
      signedIn.addChildren([home, playground, lanes, lane, endpoints, providers, keys]),
    ]),
    basepath: '/console',
    defaultPreload: 'intent',
    defaultErrorComponent: PageCrashed,
    scrollRestoration: true,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}
