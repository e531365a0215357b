import { type RefCallback, type SVGProps, useCallback, useState } from "react";

// A chart in a column of a wide window is drawn as if it were this wide, and scaled to its card.
const USUAL = 520;
// From here on a chart has a row of its own.
const ROW = 760;
const WIDEST = 1080;

/** The units that a chart is drawn in: pixels in a narrow card, so that its text keeps its size. */
export function drawnWidth(pixels: number): number {
  if (pixels <= 0) return USUAL;
  if (pixels < ROW) return Math.min(pixels, USUAL);
  return Math.min(pixels, WIDEST);
}

/** A reference for the drawing of a chart, and how wide it is drawn; it follows the window. */
export function useWidth(): [RefCallback<SVGSVGElement>, number] {
  const [width, setWidth] = useState(USUAL);
  const box = useCallback((drawing: SVGSVGElement | null) => {
    if (!drawing || typeof ResizeObserver === "undefined") return;
    const measure = () => setWidth(drawnWidth(Math.round(drawing.getBoundingClientRect().width)));
    const observer = new ResizeObserver(measure);
    observer.observe(drawing);
    measure();
    return () => observer.disconnect();
  }, []);
  return [box, width];
}

type Props = SVGProps<SVGSVGElement> & {
  box: RefCallback<SVGSVGElement>;
  title: string;
  width: number;
  height: number;
};

/** The drawing of a chart, *width* by *height* units, as wide as its card. */
export function Drawing({ box, title, width, height, ...more }: Props) {
  return (
    <svg
      ref={box}
      className="chart"
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={title}
      {...more}
    />
  );
}
