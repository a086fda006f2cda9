/** What requests without an API key are called: self-hosted, they are sent with the API token; hosted, from the console. */
export const keylessText = { self_hosted: 'API token', hosted: 'No key' } as const;
