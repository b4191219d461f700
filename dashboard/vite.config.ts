import { fileURLToPath } from "node:url";
import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Static files with relative addresses, so that they can be served under any path. */
export default defineConfig({
  root: at("."),
  base: "./",
  plugins: [react(), tailwind()],
  resolve: { alias: { "holdfast/client": at("../src/client/index.ts") } },
  build: {
    outDir: at("../dist/dashboard"),
    emptyOutDir: true,
    // Nothing inline: the content security policy lets only files of this server through.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: { proxy: { "/v1": "http://127.0.0.1:4100" } },
});
