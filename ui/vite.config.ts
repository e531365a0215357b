import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";
import { digest } from "./scripts/digest.ts";

const here = fileURLToPath(new URL(".", import.meta.url));

/** Writes the digest of the source beside the build, so that a test can tell a stale build. */
function recordSource(): Plugin {
  return {
    name: "record-source",
    apply: "build",
    generateBundle() {
      this.emitFile({ type: "asset", fileName: "source.sha256", source: `${digest(here)}\n` });
    },
  };
}

export default defineConfig({
  plugins: [react(), recordSource()],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  build: {
    outDir: "../src/karat/extensions/service/api/static",
    emptyOutDir: true,
    modulePreload: { polyfill: false },
    // The page's policy allows no data: scripts or styles; every asset is a file of the server.
    assetsInlineLimit: 0,
    // The licences of what is built in go where it goes.
    license: { fileName: "licenses.txt" },
  },
  server: { proxy: { "/api": "http://127.0.0.1:8080" } },
  test: {
    environment: "jsdom",
    setupFiles: ["src/testing/setup.ts"],
    restoreMocks: true,
    unstubGlobals: true,
    // One document for all files: making one takes longer than most tests.
    isolate: false,
    maxWorkers: 1,
    testTimeout: 30_000,
    css: false,
  },
});
