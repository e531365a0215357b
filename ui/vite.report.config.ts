import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";
import { digest } from "./scripts/digest.ts";

const here = fileURLToPath(new URL(".", import.meta.url));
const folder = fileURLToPath(new URL("../src/karat/report/page/built", import.meta.url));

const sha = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/**
 * Puts the script and the style into the page, with a policy that allows these two and no request.
 * The script stands last, after the data that a report puts into the page.
 */
function oneFile(): Plugin {
  return {
    name: "one-file",
    apply: "build",
    generateBundle: {
      order: "post",
      handler(_, bundle) {
        const files = Object.values(bundle);
        let script = "";
        let style = "";
        for (const file of files) {
          if (file.type === "chunk") script += file.code.replaceAll("</script", "<\\/script");
          else if (file.fileName.endsWith(".css")) style += String(file.source);
        }
        const page = files.find((file) => file.fileName === "report.html");
        if (page?.type !== "asset") throw new Error("no report.html was built");
        const policy = [
          "default-src 'none'",
          `script-src ${sha(script)}`,
          `style-src ${sha(style)}`,
          "img-src data:",
          "base-uri 'none'",
          "form-action 'none'",
        ].join("; ");
        const head = `<meta http-equiv="Content-Security-Policy" content="${policy}" />`;
        // A function, because a string would have its dollar signs read.
        const built = String(page.source)
          .replace(/\s*<script type="module"[^>]*><\/script>/, "")
          .replace(/\s*<link rel="stylesheet"[^>]*>/, "")
          .replace(/<meta charset="utf-8" \/>/, (charset) => `${charset}\n    ${head}`)
          .replace("</head>", () => `<style>${style}</style>\n  </head>`)
          .replace("</body>", () => `<script type="module">${script}</script>\n  </body>`);
        for (const file of files)
          if (!file.fileName.endsWith("licenses.txt")) delete bundle[file.fileName];
        this.emitFile({ type: "asset", fileName: "report.html", source: built });
        this.emitFile({ type: "asset", fileName: "source.sha256", source: `${digest(here)}\n` });
      },
    },
  };
}

/** The page inside a report file: one HTML template, which `karat report` fills with its data. */
export default defineConfig({
  plugins: [react(), oneFile()],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  publicDir: false,
  build: {
    outDir: folder,
    emptyOutDir: true,
    modulePreload: false,
    cssCodeSplit: false,
    rollupOptions: { input: fileURLToPath(new URL("./report.html", import.meta.url)) },
    license: { fileName: "licenses.txt" },
  },
});
