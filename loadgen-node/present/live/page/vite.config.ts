import { readFileSync } from 'node:fs';
import { defineConfig, type Plugin } from 'vite';
import { viteSingleFile } from 'vite-plugin-singlefile';

/** The licence of what is bundled goes with it. */
const licence: Plugin = {
  name: 'licence',
  transformIndexHtml: {
    order: 'post',
    handler(html) {
      const text = readFileSync('node_modules/uplot/LICENSE', 'utf8').replaceAll('--', '- -');
      return `${html.trimEnd()}\n<!-- Contains uPlot.\n\n${text.trim()}\n-->\n`;
    },
  },
};

/** `npm run build:pages`: the live page as one HTML file, with nothing to load from anywhere. */
export default defineConfig({
  root: import.meta.dirname,
  logLevel: 'warn',
  plugins: [viteSingleFile({ removeViteModuleLoader: true }), licence],
  build: {
    outDir: '../../../../dist/loadgen-node/present/live/page',
    // tsc puts nothing there; what an earlier build left must not be served.
    emptyOutDir: true,
    target: 'es2022',
  },
});
