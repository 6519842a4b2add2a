import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

declare const process: { env: Record<string, string | undefined> };

// `CHORUS_URL` and `CHORUS_TOKEN` name the host that `npm run dev` works with: the page asks vite,
// and vite asks the host with that token.
const host = process.env.CHORUS_URL ?? 'http://127.0.0.1:7600';
const token = process.env.CHORUS_TOKEN;
const proxied = {
  target: host,
  changeOrigin: true,
  headers: { origin: host, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
};

export default defineConfig({
  base: '/app/',
  plugins: [svelte()],
  build: {
    outDir: '../crates/web/dist',
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: {
    proxy: Object.fromEntries(
      ['/v1', '/jobs', '/agents', '/discover', '/accounts', '/skills', '/audit', '/signin'].map(
        (path) => [path, proxied],
      ),
    ),
  },
});
