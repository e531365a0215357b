import { render } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { TipProvider } from "@/parts/tip";
import { Bars } from "./Bars";
import { drawnWidth } from "./Drawing";

afterEach(() => vi.unstubAllGlobals());

it("draws in pixels where a card is narrow, and scales where it is wide", () => {
  expect([0, 313, 520, 600, 900, 1200].map(drawnWidth)).toEqual([520, 313, 520, 520, 900, 1080]);
});

it("draws a chart as wide as its card, with its names inside", () => {
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe() {}
      disconnect() {}
    },
  );
  vi.spyOn(Element.prototype, "getBoundingClientRect").mockReturnValue({ width: 313 } as DOMRect);
  const bar = { id: "a", name: "hybrid reranked @10", value: 0.5, bounds: [0.4, 0.6], best: true };
  const { container } = render(
    <TipProvider>
      <Bars title="Mean" means="" bars={[bar]} />
    </TipProvider>,
  );
  const [, , width] = container.querySelector("svg")?.getAttribute("viewBox")?.split(" ") ?? [];
  expect(width).toBe("313");
  vi.restoreAllMocks();
});
