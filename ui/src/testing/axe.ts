import axe from "axe-core";

/** What axe finds wrong with the page; colours are left to the real browser, jsdom has none. */
export async function violations(page: Element): Promise<string[]> {
  const { violations: found } = await axe.run(page, {
    rules: { "color-contrast": { enabled: false } },
  });
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
}
