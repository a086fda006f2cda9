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
    // The bundle contains third-party code, so their license notices ship with it.
    license: { fileName: 'licenses.md' },
  },
  server: { proxy: { '/api': server, '/v1': server, '/docs': server } },
});
