import { expect, it } from "vitest";
import { together } from "./together";

const line = (id: string, ...values: number[]) => ({
  id,
  name: id,
  points: values.map((y, x) => ({ x, y })),
});

it("draws lines that lie on a longer one as part of it, and no other ones", () => {
  const drawn = together([
    line("short", 0.1, 0.2),
    line("low", 0.1, 0.1),
    line("long", 0.1, 0.2, 0.3),
    line("same", 0.1, 0.2, 0.3),
  ]);
  expect(drawn.map(({ id, name }) => [id, name])).toEqual([
    ["long", "long, same, short"],
    ["low", "low"],
  ]);
});
