import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";

const LEFT_OUT = new Set(["node_modules"]);

function* files(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (LEFT_OUT.has(entry.name)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* files(path);
    else yield path;
  }
}

/**
 * The SHA-256 of every file below a folder: each path, a zero byte, the file's own digest, a line
 * end, in the order of the paths. A Python test computes the same to see that the build is current.
 */
export function digest(folder: string): string {
  const hash = createHash("sha256");
  const named = [...files(folder)].map((path) => ({
    name: relative(folder, path).split(sep).join("/"),
    path,
  }));
  named.sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)));
  for (const { name, path } of named) {
    const own = createHash("sha256").update(readFileSync(path)).digest("hex");
    hash.update(`${name}\0${own}\n`);
  }
  return hash.digest("hex");
}
