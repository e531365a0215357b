/** A reference as one line: its value, and the lines where it names some. */
export function reference(docRef: Record<string, unknown>): string {
  const { start_line: first, end_line: last, ...keys } = docRef;
  const value = Object.values(keys).find((one) => typeof one === "string" && one !== "");
  const lines = first ? `:${first}${last && last !== first ? `-${last}` : ""}` : "";
  return `${value ?? JSON.stringify(docRef)}${lines}`;
}
