import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { firstLoadBudget } from './first-load-budget.ts';
import { fonts } from './fonts.ts';

const server = process.env['RELAY_URL'] ?? 'http://127.0.0.1:8080';

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  plugins: [react(), tailwindcss(), firstLoadBudget(250 * 1024), fonts(import.meta.dirname, 190 * 1024)],
  build: {
    outDir: 'dist',
    target: 'es2023',
    // Vite inlines small files as data: URLs, which the content security policy allows for images only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        // Without groups there is a file for every set of pages that share a module: 168, half of them below 1.4 KB, and
        // a page took 74 requests.
        codeSplitting: {
          groups: [
            { name: 'first', tags: ['$initial'], priority: 2 },
            {
              name: 'shared',
              minShareCount: 2,
              entriesAware: true,
              entriesAwareMergeThreshold: 20_000,
              priority: 1,
            },
          ],
        },
        // The names of the shared files would list every page that uses them.
        chunkFileNames: ({ name }) => `assets/${name.split('~', 1)[0]}-[hash].js`,
      },
    },
    // The bundle contains third-party code, so their license notices ship with it.
    license: { fileName: 'licenses.md' },
  },
  server: { proxy: { '/api': server, '/v1': server, '/docs': server } },
});
