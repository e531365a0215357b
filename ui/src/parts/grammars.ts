import clojure from "highlight.js/lib/languages/clojure";
import cmake from "highlight.js/lib/languages/cmake";
import dart from "highlight.js/lib/languages/dart";
import dockerfile from "highlight.js/lib/languages/dockerfile";
import elixir from "highlight.js/lib/languages/elixir";
import elm from "highlight.js/lib/languages/elm";
import erlang from "highlight.js/lib/languages/erlang";
import haskell from "highlight.js/lib/languages/haskell";
import julia from "highlight.js/lib/languages/julia";
import nix from "highlight.js/lib/languages/nix";
import ocaml from "highlight.js/lib/languages/ocaml";
import powershell from "highlight.js/lib/languages/powershell";
import properties from "highlight.js/lib/languages/properties";
import proto from "highlight.js/lib/languages/protobuf";
import scala from "highlight.js/lib/languages/scala";
import { common, createLowlight } from "lowlight";

/** A part of a line, and the class that colours it; without one it is plain. */
export type Piece = { text: string; kind?: string | undefined };

type Tree = ReturnType<ReturnType<typeof createLowlight>["highlight"]>;
type Node = Tree["children"][number];

// The languages that the service names; what it calls vue or svelte is read as the XML around the code.
const grammars = createLowlight({
  ...common,
  clojure,
  cmake,
  dart,
  dockerfile,
  elixir,
  elm,
  erlang,
  haskell,
  julia,
  nix,
  ocaml,
  powershell,
  properties,
  proto,
  scala,
});
grammars.registerAlias({ xml: ["vue", "svelte"] });

function* flat(nodes: readonly Node[], kind?: string): Generator<Piece> {
  for (const node of nodes) {
    if (node.type === "text") yield { text: node.value, kind };
    else if (node.type === "element") {
      const [own] = node.properties.className as string[];
      yield* flat(node.children as Node[], own ?? kind);
    }
  }
}

/**
 * The pieces of each line of a text; null in a language that is not known. A piece holds what stands
 * in the text, never HTML, and together they are the text.
 */
export function pieces(text: string, language: string): Piece[][] | null {
  if (!grammars.registered(language)) return null;
  const lines: Piece[][] = [[]];
  for (const { text: part, kind } of flat(grammars.highlight(language, text).children)) {
    part.split("\n").forEach((piece, at) => {
      if (at > 0) lines.push([]);
      if (piece) lines.at(-1)?.push({ text: piece, kind });
    });
  }
  return lines;
}
