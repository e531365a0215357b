import { count } from "@/words/format";

type Props = {
  of: { total: number; page: number; per_page: number };
  noun: string;
  onPage: (page: number) => void;
};

/** Steps through the pages of a list; nothing where one page holds all. */
export function Pager({ of: { total, page, per_page }, noun, onPage }: Props) {
  const pages = Math.max(1, Math.ceil(total / per_page));
  if (pages === 1) return null;
  return (
    <nav className="row" aria-label="Pages">
      <button
        type="button"
        className="button small"
        disabled={page <= 1}
        onClick={() => onPage(page - 1)}
      >
        ← Previous
      </button>
      <span className="soft">
        Page {count(page)} of {count(pages)}, {count(total)} {noun}
      </span>
      <button
        type="button"
        className="button small"
        disabled={page >= pages}
        onClick={() => onPage(page + 1)}
      >
        Next →
      </button>
    </nav>
  );
}
