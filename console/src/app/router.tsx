import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Navigate,
} from '@tanstack/react-router';
import { auditSearch, billingSearch, configurationSearch } from '../address/control-search.ts';
import { limitSearch } from '../address/limit-search.ts';
import { endpointsSearch, keysSearch, listSearch } from '../address/list-search.ts';
import { playgroundSearch } from '../address/playground-search.ts';
import { requestSearch } from '../address/request-search.ts';
import { settingsSearch } from '../address/settings-search.ts';
import { showbackSearch } from '../address/showback-search.ts';
import { usageSearch } from '../address/usage-search.ts';
import { usePages } from '../session/use-pages.ts';
import { keepTimeRange, timeRangeSearch } from '../time-range/time-range.ts';
import { PageCrashed, PageNotFound } from './page-failures.tsx';
import { SessionGate } from './session-gate.tsx';

const root = createRootRoute({ notFoundComponent: PageNotFound });

/** All pages share the time range, so that it survives navigation. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  validateSearch: timeRangeSearch,
  search: { middlewares: [keepTimeRange] },
  component: SessionGate,
});

const acceptInvitation = createRoute({
  getParentRoute: () => root,
  path: '/accept-invitation',
  component: lazyRouteComponent(() => import('../session/accept-invitation.tsx'), 'AcceptInvitation'),
});

const forgotPassword = createRoute({
  getParentRoute: () => root,
  path: '/forgot-password',
  component: lazyRouteComponent(() => import('../session/forgot-password.tsx'), 'ForgotPassword'),
});

const resetPassword = createRoute({
  getParentRoute: () => root,
  path: '/reset-password',
  component: lazyRouteComponent(() => import('../session/reset-password.tsx'), 'ResetPassword'),
});

const signUp = createRoute({
  getParentRoute: () => root,
  path: '/sign-up',
  component: lazyRouteComponent(() => import('../session/finish-sign-up.tsx'), 'FinishSignUp'),
});

const first = createRoute({ getParentRoute: () => signedIn, path: '/', component: FirstPage });

const home = createRoute({
  getParentRoute: () => signedIn,
  path: '/home',
  component: lazyRouteComponent(() => import('../pages/home/home-page.tsx'), 'HomePage'),
});

const usage = createRoute({
  getParentRoute: () => signedIn,
  path: '/usage',
  validateSearch: usageSearch,
  component: lazyRouteComponent(() => import('../pages/usage/usage-page.tsx'), 'UsagePage'),
});

const playground = createRoute({
  getParentRoute: () => signedIn,
  path: '/playground',
  validateSearch: playgroundSearch,
  component: lazyRouteComponent(() => import('../pages/playground/playground-page.tsx'), 'PlaygroundPage'),
});

const requests = createRoute({
  getParentRoute: () => signedIn,
  path: '/requests',
  validateSearch: requestSearch,
  component: lazyRouteComponent(() => import('../pages/requests/requests-page.tsx'), 'RequestsPage'),
});

const request = createRoute({
  getParentRoute: () => signedIn,
  path: '/requests/$requestId',
  component: lazyRouteComponent(() => import('../pages/requests/request-page.tsx'), 'RequestPage'),
});

const live = createRoute({
  getParentRoute: () => signedIn,
  path: '/live',
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import('../pages/live/live-page.tsx'), 'LivePage'),
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
  validateSearch: endpointsSearch,
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
  validateSearch: keysSearch,
  component: lazyRouteComponent(() => import('../pages/keys/keys-page.tsx'), 'KeysPage'),
});

const members = createRoute({
  getParentRoute: () => signedIn,
  path: '/members',
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import('../pages/members/members-page.tsx'), 'MembersPage'),
});

const settings = createRoute({
  getParentRoute: () => signedIn,
  path: '/settings',
  validateSearch: settingsSearch,
  component: lazyRouteComponent(() => import('../pages/settings/settings-page.tsx'), 'SettingsPage'),
});

const limits = createRoute({
  getParentRoute: () => signedIn,
  path: '/limits',
  validateSearch: limitSearch,
  component: lazyRouteComponent(() => import('../pages/limits/limits-page.tsx'), 'LimitsPage'),
});

const teams = createRoute({
  getParentRoute: () => signedIn,
  path: '/teams',
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import('../pages/teams/teams-page.tsx'), 'TeamsPage'),
});

const showback = createRoute({
  getParentRoute: () => signedIn,
  path: '/showback',
  validateSearch: showbackSearch,
  component: lazyRouteComponent(() => import('../pages/showback/showback-page.tsx'), 'ShowbackPage'),
});

const alerts = createRoute({
  getParentRoute: () => signedIn,
  path: '/alerts',
  component: lazyRouteComponent(() => import('../pages/limits/alerts-page.tsx'), 'AlertsPage'),
});

const guardrails = createRoute({
  getParentRoute: () => signedIn,
  path: '/guardrails',
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import('../pages/guardrails/guardrails-page.tsx'), 'GuardrailsPage'),
});

const guardrail = createRoute({
  getParentRoute: () => signedIn,
  path: '/guardrails/$guardrailId',
  component: lazyRouteComponent(() => import('../pages/guardrails/guardrail-page.tsx'), 'GuardrailPage'),
});

const configuration = createRoute({
  getParentRoute: () => signedIn,
  path: '/configuration',
  validateSearch: configurationSearch,
  component: lazyRouteComponent(
    () => import('../pages/configuration/configuration-page.tsx'),
    'ConfigurationPage',
  ),
});

const billing = createRoute({
  getParentRoute: () => signedIn,
  path: '/billing',
  validateSearch: billingSearch,
  component: lazyRouteComponent(() => import('../pages/billing/billing-page.tsx'), 'BillingPage'),
});

const audit = createRoute({
  getParentRoute: () => signedIn,
  path: '/audit',
  validateSearch: auditSearch,
  component: lazyRouteComponent(() => import('../pages/audit/audit-page.tsx'), 'AuditPage'),
});

/** Any other address, inside the shell: navigation and search stay at hand. */
const unknown = createRoute({ getParentRoute: () => signedIn, path: '$', component: PageNotFound });

function FirstPage() {
  const [first] = usePages();
  return first === undefined ? null : <Navigate to={first.path} replace />;
}

export function createConsoleRouter() {
  return createRouter({
    routeTree: root.addChildren([
      acceptInvitation,
      forgotPassword,
      resetPassword,
      signUp,
      signedIn.addChildren([
        first,
        home,
        usage,
        playground,
        requests,
        request,
        live,
        lanes,
        lane,
        endpoints,
        providers,
        keys,
        limits,
        teams,
        showback,
        alerts,
        guardrails,
        guardrail,
        members,
        settings,
        configuration,
        billing,
        audit,
        unknown,
      ]),
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
