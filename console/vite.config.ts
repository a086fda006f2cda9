import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { firstLoadBudget } from './first-load-budget.ts';

const server = process.env['RELAY_URL'] ?? 'http://127.0.0.1:8080';

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  plugins: [react(), tailwindcss(), firstLoadBudget(250 * 1024)],
  build: {
    outDir: 'dist',
    target: 'es2023',
    // Small files would become data: addresses, which the policy allows for images alone.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // What others wrote goes out with the bundle, and so do their notices.
    license: { fileName: 'licenses.md' },
  },
  server: { proxy: { '/api': server, '/v1': server, '/docs': server } },
});
