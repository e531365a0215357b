import type { ReaderProps } from "@/pages/query/QueryPage";
import { place } from "@/words/format";

/** A hit of a report file, which holds no texts: where it is, and its score and grade. */
export function HitCard({ hit, onClose }: ReaderProps) {
  return (
    <section className="card stack reader" aria-label="Selected hit">
      <div className="row">
        <strong className="anywhere">{place(hit)}</strong>
        {hit.symbol && <code>{hit.symbol}</code>}
        <span>rank {hit.rank}</span>
        <span>score {hit.score.toPrecision(4)}</span>
        <span>{hit.grade === null ? "not judged" : `grade ${hit.grade}`}</span>
        <button
          type="button"
          className="button plain small"
          aria-label="Close the hit"
          onClick={onClose}
        >
          ✕
        </button>
      </div>
    </section>
  );
}
