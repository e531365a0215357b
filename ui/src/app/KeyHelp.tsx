import { Dialog } from "@/parts/Dialog";

const KEYS = [
  ["Ctrl K, /", "Jump to a benchmark, dataset, collection or query"],
  ["j, k", "Next and previous row or hit"],
  ["Enter", "Open it"],
  ["Esc", "Close, or leave a field"],
  ["0 1 2 3", "Grade the chosen hit"],
  ["u", "Undo the last grade"],
  ["?", "This help"],
] as const;

export function KeyHelp({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl className="facts">
        {KEYS.map(([keys, does]) => (
          <div key={keys} className="pair">
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
