/** Builds `dist/kopeck-cli.js`: the commands that call the service over HTTP, from their source in `src/cli`, as one file. */
import { build } from 'vite';

await build({
  configFile: false,
  root: import.meta.dirname,
  logLevel: 'warn',
  build: {
    ssr: 'main.ts',
    outDir: 'dist',
    target: 'node22',
    minify: false,
    rolldownOptions: {
      output: { entryFileNames: 'kopeck-cli.js', codeSplitting: false },
      // A module of the service is there for what is used of it, and not for what it does when it is loaded.
      treeshake: { moduleSideEffects: false },
    },
  },
});
