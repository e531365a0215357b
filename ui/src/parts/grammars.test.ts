import { describe, expect, it } from "vitest";
import { pieces } from "./grammars";

const ATTACK = "</script><img src=x onerror=\"document.title='taken'\">";

describe("pieces", () => {
  it.each([
    ["python", `def f(x):\n    """One\n    two"""\n    return "${ATTACK}"\n`],
    ["html", `<p class="a">${ATTACK}</p>\n<style>\np { color: red }\n</style>`],
    ["typescript", "const a: number = /* 1\n */ 2;\r\n\n// the end"],
    ["markdown", `# Title\n\n${ATTACK} and *some* \`code\``],
    ["vue", "<template>\n  <b/>\n</template>"],
  ])("of %s together are the text", (language, text) => {
    const found = pieces(text, language)?.map((line) => line.map((piece) => piece.text).join(""));
    expect(found).toEqual(text.split("\n"));
  });

  it("keep their kind over the lines of one string", () => {
    const [, second] = pieces('x = """one\ntwo"""', "python") ?? [];
    expect(second).toEqual([{ text: 'two"""', kind: "hljs-string" }]);
  });

  it("are none in a language that is not known", () => {
    expect(pieces("x", "klingon")).toBeNull();
  });
});
