import { gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/** Of the first load, compressed. Partners open the portal on phones. */
const limits = { console: 300, portal: 240 };
export type WebApp = keyof typeof limits;

/** The size of the first load: the page, its entry chunk and everything that chunk imports statically. */
function firstLoad(limitKb: number): Plugin {
  return {
    name: 'first-load',
    generateBundle(_options, bundle) {
      const first = new Set<string>();
      const take = (name: string) => {
        const file = bundle[name];
        if (first.has(name) || file?.type !== 'chunk') return;
        first.add(name);
        for (const next of file.imports) take(next);
        for (const css of file.viteMetadata?.importedCss ?? []) first.add(css);
      };
      for (const file of Object.values(bundle)) {
        // After signing in the overview is shown.
        if (
          file.type === 'chunk' &&
          (file.isEntry || /(pages\/(overview|sign-in)|parts\/chart)\.tsx$/.test(file.facadeModuleId ?? ''))
        )
          take(file.fileName);
      }
      let bytes = 0;
      for (const name of first) {
        const file = bundle[name];
        if (file) bytes += gzipSync(file.type === 'chunk' ? file.code : file.source).length;
      }
      const kb = bytes / 1000;
      this.info(`first load: ${kb.toFixed(1)} kB compressed in ${first.size} files, of ${limitKb} kB`);
      if (kb > limitKb) this.error(`the first load is over ${limitKb} kB`);
    },
  };
}

/** Both have the same page around their own program. */
const entryOf = (app: WebApp): Plugin => ({
  name: 'entry',
  transformIndexHtml: {
    order: 'pre',
    handler: html => (app === 'portal' ? html.replace('/src/main.tsx', '/src/portal/main.tsx') : html),
  },
});

export const configOf = (app: WebApp) =>
  defineConfig({
    root: import.meta.dirname,
    base: `/${app}/`,
    plugins: [react(), entryOf(app), firstLoad(limits[app])],
    build: {
      emptyOutDir: true,
      // The first load is limited above; one file of it more or less makes no difference.
      chunkSizeWarningLimit: 600,
      target: 'baseline-widely-available',
      // The content security policy allows only our own files: nothing inline, and no data: URLs.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
    },
    server: { proxy: { [`/${app}/api`]: process.env.CONSOLE ?? 'http://127.0.0.1:8080' } },
  });

export default configOf(process.env.WEB_APP === 'portal' ? 'portal' : 'console');
