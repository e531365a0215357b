import type { Commit } from "@/api/types";
import { moment } from "@/words/format";

/** How a commit is called for short. */
export const shortId = ({ id }: Pick<Commit, "id">): string => id.slice(0, 7);

/** The commit that was searched: its short name, and what it was about. */
export function Revision({ of }: { of: Commit }) {
  return (
    <span title={`${of.id}\n${moment(of.committed_at)}`}>
      <code>{shortId(of)}</code> {of.subject}
    </span>
  );
}
