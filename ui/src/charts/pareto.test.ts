import { expect, it } from "vitest";
import { covered, labelled } from "./pareto";

it("moves names apart that would meet, and keeps them inside the drawing", () => {
  const points = [
    { id: "a", name: "hybrid reranked", x: 100, y: 50 },
    { id: "b", name: "hybrid", x: 104, y: 52 },
    { id: "c", name: "a long name at the right", x: 480, y: 50 },
  ];
  const [first, third, second] = labelled(points, 520).sort((a, b) => a.id.localeCompare(b.id));
  expect(Math.abs((first?.y ?? 0) - (third?.y ?? 0))).toBeGreaterThanOrEqual(14);
  expect(second?.anchor).toBe("end");
});

it("keeps names inside a narrow drawing", () => {
  const name = "hybrid rrf60 dense_weight=0.4 @10";
  const [label] = labelled([{ id: "a", name, x: 100, y: 50 }], 300);
  expect(label?.text).toBe(name);
  expect((label?.x ?? 0) + 6.6 * name.length).toBeLessThanOrEqual(300);
  const [cut] = labelled([{ id: "a", name: name.repeat(3), x: 100, y: 50 }], 300);
  expect(cut?.text).toMatch(/…$/);
  expect(cut?.x).toBeGreaterThanOrEqual(0);
});

it("covers the intervals of all points", () => {
  const points = [
    { value: 0.662, bounds: [0.55, 0.75] },
    { value: 0.666, bounds: undefined },
  ];
  expect(covered(points)).toEqual([0.55, 0.75]);
  expect(covered([{ value: 0.5, bounds: undefined }])).toEqual([0.5, 0.51]);
});
