/** Every page that stands in the navigation: each must hold in both themes and at both widths. */
export const pagePaths = ['playground', 'lanes', 'endpoints', 'providers', 'keys'] as const;
